# SPDX-License-Identifier: Apache-2.0
"""The exceptions of mindrecord: MindSpore's names, numbers and texts, from one table."""

# name: (number, text); in a text with {} stand the details given to the exception.
_TABLE = {
    'UnknownError': (0, 'Unknown Error.'),
    'ParamTypeError': (1, "Invalid parameter type. '{}' expect {} type."),
    'ParamValueError': (2, 'Invalid parameter value. {}'),
    'ParamMissError': (3, "Param missing. '{}' is required."),
    'PathNotExistsError': (4, 'Invalid path. {}'),
    'DbConnectionError': (5, 'Db connection is error. Detail: {}'),
    'MRMOpenError': (100, 'MindRecord File could not open successfully.'),
    'MRMOpenForAppendError': (101, 'MindRecord File could not open successfully for append.'),
    'MRMInvalidPageSizeError': (102, 'Failed to set page size.'),
    'MRMInvalidHeaderSizeError': (103, 'Failed to set header size.'),
    'MRMSetHeaderError': (104, 'Failed to set header.'),
    'MRMWriteDatasetError': (105, 'Failed to write dataset.'),
    'MRMCommitError': (107, 'Failed to commit.'),
    'MRMLaunchError': (108, 'Failed to launch.'),
    'MRMFinishError': (109, 'Failed to finish.'),
    'MRMCloseError': (110, 'Failed to close.'),
    'MRMAddSchemaError': (111, 'Failed to add schema.'),
    'MRMAddIndexError': (112, 'Failed to add index field.'),
    'MRMBuildSchemaError': (113, 'Failed to build schema.'),
    'MRMGetMetaError': (114, 'Failed to get meta info.'),
    'MRMIndexGeneratorError': (115, 'Failed to create index generator.'),
    'MRMGenerateIndexError': (116, 'Failed to generate index.'),
    'MRMInitSegmentError': (117, 'Failed to initialize segment.'),
    'MRMFetchCandidateFieldsError': (118, 'Failed to fetch candidate category fields.'),
    'MRMReadCategoryInfoError': (119, 'Failed to read category information.'),
    'MRMFetchDataError': (120, 'Failed to fetch data by category.'),
    'MRMInvalidSchemaError': (200, 'Schema format is error. Detail: {}'),
    'MRMValidateDataError': (201, 'Raw data do not match the schema. Detail: {}'),
    'MRMDefineIndexError': (202, 'Failed to define index field. Detail: {}'),
    'MRMDefineBlobError': (203, 'Failed to define blob field. Detail: {}'),
    'MRMUnsupportedSchemaError': (204, 'Schema is not supported. Detail: {}'),
    'MRMDefineCategoryError': (205, 'Failed to define category field. Detail: {}'),
}
__all__ = ['MindRecordException', *_TABLE]


class MindRecordException(Exception):
    """What all exceptions of mindrecord derive from.

    `error_msg` is the text, `error_code` MindSpore's number of the kind of error.
    """

    def __init__(self, *details):
        number, text = _TABLE.get(type(self).__name__, _TABLE['UnknownError'])
        self.error_msg = text.format(*details) if '{}' in text else ' '.join([text, *map(str, details)])
        # MindSpore composes its codes of host, kind, level, subsystem, module and number.
        self.error_code = 1 << 30 | 1 << 28 | 0b00101010 << 17 | (number // 100 + 1) << 12 | number
        super().__init__(*details)

    def __str__(self):
        return f'[{type(self).__name__}]: {self.error_msg}'


def _make(name):
    # Rows that do not fit are refused here and dropped by MindSpore, which raises RuntimeError when none is left: code
    # written for that catches this as well.
    bases = (MindRecordException, RuntimeError) if name == 'MRMValidateDataError' else (MindRecordException,)
    text = _TABLE[name][1].replace('{}', '...')
    return type(name, bases, {'__module__': __name__, '__doc__': f'{text} (See MindRecordException.)'})


globals().update({name: _make(name) for name in _TABLE})
