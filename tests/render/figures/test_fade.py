import numpy as np
import reference_render as reference
from hypothesis import given
from hypothesis import strategies as st

from crowd_demo.render.figures.blit import fade, fade_plain


@given(st.integers(0, 2**32 - 1), st.integers(0, 256), st.integers(1, 3))
def test_pictures_are_mixed_by_kernel_by_numpy_and_by_the_reference(seed, share, workers):
    rng = np.random.default_rng(seed)
    one, other = rng.choice([0, 0xFFFFFF, 0x80FF01, *rng.integers(0, 1 << 24, 5)], (2, 7, 19)).astype(np.uint32)
    expected = [[reference.mixed(int(a), int(b), share) for a, b in zip(*lines, strict=True)]
                for lines in zip(one, other, strict=True)]
    compiled, plain = one.copy(), one.copy()
    fade(workers, compiled, other, share)
    fade_plain(plain, other, share)
    assert np.array_equal(compiled, expected) and np.array_equal(plain, expected)
