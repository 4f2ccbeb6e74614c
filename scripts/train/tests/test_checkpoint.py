import pytest
from sardonyx_train.checkpoint import CheckpointError, read_checkpoint


def test_what_is_no_checkpoint_is_one_sentence(tmp_path):
    other = tmp_path / "network.onnx"
    other.write_bytes(b"\x08\x08\x12\x08sardonyx" * 100)
    for path, reason in ((tmp_path / "gone.pt", "No such file or directory"), (other, "damaged, or another kind of file")):
        with pytest.raises(CheckpointError) as caught:
            read_checkpoint(path)
        assert str(caught.value) == f"{path}: not a readable checkpoint ({reason})"
