use proptest::prelude::*;

use super::*;

fn take(text: &str) -> Result<Part, Broken> {
    let mut framing = Framing::new(1000);
    framing.take(text.as_bytes()).map(|()| framing.part)
}

#[test]
fn each_request_ends_where_its_length_says() {
    for (text, part) in [
        ("GET / HTTP/1.1\r\n\r\n", Part::RequestLine),
        ("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", Part::Body(1)),
        ("POST / HTTP/1.1\r\ncontent-length:3 \r\n\r\na\nbGET / HTTP/1.1\r\nA: b", Part::Header),
        ("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET", Part::RequestLine),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n", Part::ChunkSize),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nA;x=y\r\n0123\n", Part::Chunk(5)),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n00\r\nA: b\r\n", Part::Trailer),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Part::RequestLine),
    ] {
        assert_eq!(take(text), Ok(part), "{text:?}");
    }
}

#[test]
fn m1_what_can_be_read_in_two_ways_breaks_at_the_line_that_does_it() {
    for text in [
        "POST / HTTP/1.1\n",
        "\r\n",
        "POST /#a HTTP/1.1\r\n",
        "POST / HTTP/1.1\r\nA: b\n",
        "POST / HTTP/1.1\r\nA: b\rC: d\r\n",
        "POST / HTTP/1.1\r\n A: b\r\n",
        "POST / HTTP/1.1\r\nContent-Length: \r\n",
        "POST / HTTP/1.1\r\nContent-Length: +1\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;a\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n",
    ] {
        assert_eq!(take(text), Err(Broken { at: text.len() - 1 }), "{text:?}");
    }
    assert!(take(&"a".repeat(1001)).is_err());
}

proptest! {
    /// Where the network cuts the bytes decides nothing.
    #[test]
    fn m1_the_bytes_decide_and_not_how_they_arrive(
        lines in proptest::collection::vec(
            "POST / HTTP/1.1|Content-Length: [0-9]|Transfer-Encoding: chunked|A: b||[0-9a-f]|abc|[ -~]{0,9}", 0..20,
        ),
        end in "\r\n|\n",
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let text = lines.iter().flat_map(|line| [line.as_str(), &end]).collect::<String>();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let mut framing = Framing::new(1000);
        let in_parts = cuts.windows(2).try_for_each(|cut| {
            framing.take(&text.as_bytes()[cut[0]..cut[1]]).map_err(|broken| broken.at + cut[0])
        });
        prop_assert_eq!(in_parts.map(|()| framing.part), take(&text).map_err(|broken| broken.at));
    }
}
