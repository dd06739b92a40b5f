"""The owner's device: what it says (:mod:`pdqs.protocol.device_messages`), what it checks and what it keeps."""
