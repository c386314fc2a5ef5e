# SPDX-License-Identifier: Apache-2.0
"""How MindRecord files are protected: settings of the process, as in MindSpore.

Built-in encryption and digests are done by the engine. A function of the user's works on whole files: it gets (input file,
size, output file, key) and writes what it likes; files made that way end in the mode UDF-ENC.
"""
import contextlib
import hashlib
import os
import shutil
import tempfile

from spore import _core
from spore.mindrecord.core.shardutils import engine_errors

__all__ = ['set_enc_key', 'set_enc_mode', 'set_dec_mode', 'set_hash_mode']

_MODES = ('AES-GCM', 'AES-CBC', 'SM4-CBC')
_HASHES = ('sha256', 'sha384', 'sha512', 'sha3_256', 'sha3_384', 'sha3_512')
_PIECE = 64 << 20
_ENCRYPTED, _FUNCTION, _HASHED = b'ENCRYPT', b'UDF-ENC', b'HASH'

_settings = {'key': None, 'enc_mode': 'AES-GCM', 'dec_mode': None, 'hash': None}


def set_enc_key(enc_key):
    """Encrypt files that are written from now on, and decrypt those that are read, with this key.

    `enc_key` is a str of 16, 24 or 32 characters, or None: no encryption.

    >>> from spore.mindrecord import set_enc_key
    >>> set_enc_key("0123456789012345")
    >>> set_enc_key(None)
    """
    if enc_key is not None:
        if not isinstance(enc_key, str):
            raise ValueError("The input enc_key is not str.")
        if len(enc_key) not in (16, 24, 32):
            raise ValueError("The length of input enc_key is not 16, 24, 32.")
    _settings['key'] = enc_key


def _set_mode(name, mode):
    if not callable(mode):
        if not isinstance(mode, str):
            raise ValueError(f"The input {name} is not str.")
        if mode not in _MODES:
            raise ValueError(f"The input {name} is invalid.")
    _settings[name] = mode


def set_enc_mode(enc_mode='AES-GCM'):
    """How files are encrypted once a key is set: 'AES-GCM', 'AES-CBC', 'SM4-CBC', or a function.

    MindSpore 2.10 reads AES-GCM and its own functions only; earlier releases knew all three.

    >>> from spore.mindrecord import set_enc_mode
    >>> set_enc_mode("AES-GCM")
    """
    _set_mode('enc_mode', enc_mode)


def set_dec_mode(dec_mode='AES-GCM'):
    """How files are decrypted; None: in the way they are encrypted.

    >>> from spore.mindrecord import set_dec_mode
    >>> set_dec_mode(None)
    """
    if dec_mode is None:
        _settings['dec_mode'] = None
    else:
        _set_mode('dec_mode', dec_mode)


def set_hash_mode(hash_mode):
    """End files in a digest, and verify it when they are read.

    `hash_mode` is 'sha256', 'sha384', 'sha512', 'sha3_256', 'sha3_384', 'sha3_512', a function of (piece, digest so far)
    that returns the new digest, or None.

    >>> from spore.mindrecord import set_hash_mode
    >>> set_hash_mode("sha256")
    >>> set_hash_mode(None)
    """
    if hash_mode is not None and not callable(hash_mode):
        if not isinstance(hash_mode, str):
            raise ValueError("The input hash_mode is not str.")
        if hash_mode not in _HASHES:
            raise ValueError("The input hash_mode is invalid.")
    _settings['hash'] = hash_mode


def _get_enc_key():
    return _settings['key']


def _get_enc_mode():
    return _settings['enc_mode']


def _get_dec_mode():
    mode = _settings['dec_mode']
    if mode is None:
        mode = _settings['enc_mode']
        if callable(mode):
            raise RuntimeError("You use custom encryption, so you must also define custom decryption.")
    return mode


def _get_hash_mode():
    return _settings['hash']


def _engine_hash():
    return None if callable(_settings['hash']) else _settings['hash']


def _secret(mode):
    """(key, mode, hash) for the engine; functions are not its business."""
    key = _settings['key']
    key = None if key is None or callable(mode) else key.encode('utf-8')
    if callable(_settings['hash']) and key is not None:
        raise RuntimeError("A function as hash mode cannot be combined with built-in encryption.")
    return key, None if key is None else mode, _engine_hash()


def write_secret():
    """(key, mode, hash) for the engine's writer."""
    mode = _settings['enc_mode']
    if _settings['key'] is not None and callable(mode):
        # The function runs over finished files, and the digest comes before it: both are then done by finish_files.
        return None, None, None
    return _secret(mode)


def read_secret():
    """(key, mode, hash) for the engine's reader."""
    return _secret(_get_dec_mode()) if _settings['key'] is not None else _secret(None)


def _digest(path, size=None):
    """The digest of a file's first bytes by the hash mode set."""
    mode = _settings['hash']
    left = os.path.getsize(path) if size is None else size
    state = b'' if callable(mode) else hashlib.new(mode)
    with open(path, 'rb') as file:
        while left > 0:
            piece = file.read(min(_PIECE, left))
            left -= len(piece)
            if callable(mode):
                state = mode(piece, state)
            else:
                state.update(piece)
    return state if callable(mode) else state.digest()


def _add_digest(path):
    digest = _digest(path)
    with open(path, 'ab') as file:
        file.write(digest + len(digest).to_bytes(4, 'big') + _HASHED)


def _encrypt(path):
    temporary = path + '.encrypt'
    try:
        with open(path, 'rb') as source, open(temporary, 'wb', opener=_private) as target:
            _settings['enc_mode'](source, os.path.getsize(path), target, _settings['key'])
            target.write(bytes(4) + _FUNCTION + _ENCRYPTED)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def _private(path, flags):
    return os.open(path, flags, 0o600)


def finish_files(paths):
    """Functions of the user's, over files that the engine has completed."""
    by_function = _settings['key'] is not None and callable(_settings['enc_mode'])
    for path in paths:
        for name in (path, path + '.db'):
            if callable(_settings['hash']) or (by_function and _settings['hash']):
                _add_digest(name)
            if by_function:
                _encrypt(name)


def _tail(path, count):
    with open(path, 'rb') as file:
        file.seek(max(0, os.path.getsize(path) - count))
        return file.read(count)


def _check_digest(path):
    """Verify a digest made by a function."""
    size = os.path.getsize(path)
    tail = _tail(path, 8)
    if tail[4:] != _HASHED:
        raise RuntimeError(f"{path}: ends in no digest, though a hash mode is set.")
    count = int.from_bytes(tail[:4], 'big')
    if count + 8 > size or _tail(path, count + 8)[:count] != _digest(path, size - count - 8):
        raise RuntimeError(f"{path}: the digest at its end differs: the file was changed or damaged.")


def _decrypt(path, folder):
    """A copy decrypted by the user's function, in `folder`."""
    if _tail(path, 14) != _FUNCTION + _ENCRYPTED:
        raise RuntimeError(f"{path}: was not encrypted with a function, but one is set to decrypt it.")
    plain = os.path.join(folder, os.path.basename(path))
    with open(path, 'rb') as source, open(plain, 'wb+', opener=_private) as target:
        _get_dec_mode()(source, os.path.getsize(path) - len(_ENCRYPTED), target, _settings['key'])
    return plain


@contextlib.contextmanager
def plain_files(paths):
    """The files as the engine can open them. Copies that had to be made vanish with the block: what is open stays."""
    by_function = _settings['key'] is not None and callable(_get_dec_mode())
    folder = tempfile.mkdtemp(prefix='spore-record-') if by_function else None
    try:
        with engine_errors():
            found = [_decrypt(path, folder) for path in paths] if by_function else list(paths)
            for path in found:
                if callable(_settings['hash']):
                    _check_digest(path)
        yield found
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _check_file(path):
    """What MindSpore says before it opens a file, in its words."""
    if _settings['key'] is not None:
        _get_dec_mode()
    if not os.path.exists(path):
        raise RuntimeError(f"The input: {path} is not exists.")
    if not os.path.isfile(path):
        raise RuntimeError(f"The input: {path} should be a regular file.")
    encrypted = _tail(path, len(_ENCRYPTED)) == _ENCRYPTED
    if _settings['key'] is None and encrypted:
        raise RuntimeError(f"The mindrecord file is encrypted. You need to configure "
                           f"'mindspore.mindrecord.config.set_enc_key(...)' and "
                           f"'mindspore.mindrecord.config.set_enc_mode(...)' for decryption. ({path})")
    if _settings['key'] is not None and not encrypted:
        raise RuntimeError(f"The mindrecord file is not encrypted. You can set "
                           f"'mindspore.mindrecord.config.set_enc_key(None)' to disable the decryption. ({path})")


@contextlib.contextmanager
def _opening_errors():
    try:
        with engine_errors():
            yield
    except RuntimeError as error:
        missing = ': cannot be opened: No such file or directory'  # the engine's words; os.strerror follows the locale
        if str(error).endswith(missing):
            raise RuntimeError(f"Invalid file, mindrecord file: {str(error).removesuffix(missing)} can not be found. Please "
                               f"check whether the mindrecord file exists and do not rename the mindrecord file.") from error
        if _settings['key'] is None:
            raise
        raise RuntimeError(f"Failed to decrypt data, please check if enc_key and enc_mode / dec_mode is valid: "
                           f"{error}") from error


def open_files(file_name, columns=None):
    """The engine's reader of a data set (a name) or of files (a list)."""
    whole = not isinstance(file_name, list)
    names = [file_name] if whole else file_name
    for name in names:
        _check_file(name)
    with plain_files(names) as paths, _opening_errors():
        return _core.RecordReader([os.fsencode(path) for path in paths], whole, columns, *read_secret())


def open_writer(file_name):
    """The engine's writer that adds to a data set."""
    _check_file(file_name)
    with _opening_errors():
        return _core.RecordWriter.append(os.fsencode(file_name), *read_secret())
