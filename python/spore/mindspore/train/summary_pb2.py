# SPDX-License-Identifier: Apache-2.0
"""Event files as messages: what `SummaryRecord` writes, to be looked at."""
from spore.train._messages import classes

__all__ = ["Event", "Summary"]

_FIELDS = {
    "Event": "1 wall_time d, 2 step i, 3 version s|what, 5 summary Summary|what",
    "Summary": "1 value Value*",
    "Value": "1 tag s, 3 scalar_value f|value, 4 image Image|value, 8 tensor TensorProto|value, 9 histogram Histogram|value",
    "Image": "1 height i, 2 width i, 3 colorspace i, 4 encoded_image b",
    "Histogram": "1 buckets Bucket*, 2 nan_count i, 3 pos_inf_count i, 4 neg_inf_count i, 5 max d, 6 min d, 7 sum d, 8 count i",
    "Bucket": "1 left d, 2 width d, 3 count i",
    "TensorProto": "1 dims i*, 2 data_type i, 3 float_data f*",
}
_classes = classes(_FIELDS, __name__, "of an event file")
Event, Summary = _classes["Event"], _classes["Summary"]
Summary.Value, Summary.Image, Summary.Histogram = _classes["Value"], _classes["Image"], _classes["Histogram"]
Summary.Histogram.bucket = _classes["Bucket"]
