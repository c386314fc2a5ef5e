# SPDX-License-Identifier: Apache-2.0
"""The sources of cases.py with arguments of all kinds, right ones and wrong ones, and what a library makes of each: a digest of
columns, number and rows, or the exception with the words that its message begins with."""
import hashlib
import inspect
import re

ORDER = ["num_samples=2", "num_samples=0", "num_samples=-1", "num_samples=1.5", "num_samples='a'", "num_samples=True", "num_samples=100000",
         "shuffle=False", "shuffle=True, num_samples=3", "shuffle=None", "shuffle=3", "shuffle='files'",
         "sampler=ds.SequentialSampler(0, 2)", "sampler=ds.SubsetSampler([1, 0])", "sampler=ds.SequentialSampler(), shuffle=True",
         "sampler=ds.SequentialSampler(), num_shards=2, shard_id=0", "sampler=3", "sampler=[0]", "sampler=ds.SubsetSampler([100000])",
         "num_shards=2, shard_id=1", "num_shards=2, shard_id=2", "num_shards=2", "shard_id=0", "num_shards=0, shard_id=0", "num_shards='a', shard_id=0",
         "num_shards=2, shard_id=-1", "num_shards=3, shard_id=0, num_samples=1", "num_parallel_workers=0", "num_parallel_workers='a'",
         "cache=3", "nonsense=1"]
LARGE = ('Cifar', 'QMnist', 'EMnist', 'STL10')     # files of full size: a question each would take too long
PLACES = ["'{root}/nowhere'", "3", "None", "''", "['{root}/nowhere']"]
OTHER = {'usage': ["'nonsense'", "'TRAIN'", "'Train'", "''", "3", "None"], 'decode': ["True", "1", "'a'", "None"],
         'task': ["'nonsense'", "3", "None"], 'extensions': ["['.none']", "3", "'.jpg'", "[]"],
         'class_indexing': ["{'a': 1}", "3", "{}", "{'cat': 'b'}", "[]"], 'column_names': ["['a']", "3", "[]", "['a', 'a', 'b']"],
         'column_defaults': ["[1]", "3", "[]", "[None]"], 'field_delim': ["';'", "''", "',,'", "3", "'\\n'"], 'compat': ["False", "3"],
         'name': ["'nonsense'", "3", "None"], 'classes': ["['nonsense']", "3", "'all'", "[]"], 'language_pair': ["['en', 'fr']", "3", "'en'", "['en']"],
         'release': ["'release9'", "3"], 'background': ["False", "3"], 'small': ["False", "3"], 'quality_mode': ["'x'", "3"],
         'downgrade': ["'x'", "3"], 'scale': ["5", "'2'"], 'target_type': ["'x'", "3", "'semantic'"], 'image_set': ["'x'", "3"],
         'valid_set': ["'x'", "3"], 'test_set': ["'x'", "3"], 'extra_metadata': ["True", "3"]}


def every(ds, cases):
    """All questions, "Source arguments": those that the library's signatures have names for."""
    all_of, asked = {}, []
    for _, source, arguments in cases:
        if source in all_of or source.startswith(LARGE):
            continue
        known = all_of[source] = list(inspect.signature(getattr(ds, source).__init__).parameters)[1:]
        first, *rest = split(arguments)
        rest = [one for one in rest if not one.startswith(('num_s', 'shard'))]
        start = ', '.join([first, *rest])
        asked += [f'{source} {start}, {variant}' for variant in ORDER if variant == 'nonsense=1' or variant.split('=')[0] in known]
        asked += [f'{source} {place}' for place in PLACES]
        given = {one.split('=')[0] for one in rest if re.match(r'\w+=', one)}
        for name, values in OTHER.items():
            if name in known and name not in given and known.index(name) > len(rest) - len(given):
                asked += [f'{source} {start}, {name}={value}' for value in values]
    # With several threads MindSpore takes rows of several files in turn: its order would depend on the machine.
    return [one if 'workers' in one or 'num_parallel_workers' not in all_of[one.split(' ')[0]] or one.split(' ', 1)[1] in PLACES
            else f'{one}, num_parallel_workers=1' for one in asked]


def split(arguments):
    """Arguments of a call, those inside brackets together."""
    found, depth, start = [], 0, 0
    for i, c in enumerate(arguments):
        depth += (c in '([{') - (c in ')]}')
        if c == ',' and not depth:
            found.append(arguments[start:i].strip())
            start = i + 1
    return found + [arguments[start:].strip()]


def words_of(message, root):
    """What the message begins with, up to what is a matter of taste."""
    at = message.find('[ERROR]')
    message = (message[at + 8:] if at >= 0 else message).replace(root, '')
    return re.split(r"[\n']|mindspore|0x", message)[0][:45].rstrip()


def ask(ds, question, root, whole=False):
    """What the library makes of it; of an exception the words that it begins with, or the ``whole`` message."""
    source, arguments = question.split(' ', 1)
    ds.config.set_seed(1)
    try:
        data = eval(f'ds.{source}({arguments.replace("{root}", root)})', {'ds': ds})
        digest, count = hashlib.sha256(), 0
        for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
            count += 1
            for value in row:
                text = value.astype(str).tolist() if value.dtype.kind in 'US' else value.tobytes().hex()
                digest.update(f"{value.dtype.kind} {value.shape} {text}".encode())
            if count == 20:
                break
        return f"{' '.join(data.get_col_names())} {data.get_dataset_size()} {count} {digest.hexdigest()[:12]}"
    except Exception as error:      # its type and words are the answer
        return f"{type(error).__name__}: {str(error).replace(root, '') if whole else words_of(str(error), root)}"


def agrees(found, wanted):
    """Whether an answer, with the whole message, is the one recorded."""
    kind, _, words = wanted.partition(': ')
    if not kind.endswith('Error'):
        return found == wanted
    return found.partition(': ')[0] == kind and words in found
