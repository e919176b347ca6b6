"""Hosts of which one label is not valid in an international name."""

import pytest

from firth.corpus.text.web_addresses import canonical_host, host_of, registered_domain

HOSTS = {
    # In letters: in ASCII, and what was registered.
    "my_site.Bücher.de": ("my_site.xn--bcher-kva.de", "xn--bcher-kva.de"),
    "ab--c.bücher。de.": ("ab--c.xn--bcher-kva.de", "xn--bcher-kva.de"),
    "www.i❤.ws": ("www.xn--i-7iq.ws", "xn--i-7iq.ws"),
    "my_site.президент.рф": ("my_site.xn--d1abbgf6aiiy.xn--p1ai", "xn--d1abbgf6aiiy.xn--p1ai"),
    "bücher..de": ("xn--bcher-kva..de", ".de"),
}


@pytest.mark.parametrize(("letters", "expected"), HOSTS.items())
def test_a_host_is_one_in_letters_and_in_ascii(letters, expected):
    ascii_form, registered = expected
    assert host_of(f"http://{letters}/a") == canonical_host(letters) == ascii_form
    assert canonical_host(ascii_form) == ascii_form
    assert registered_domain(ascii_form) == registered
