//! The block `network` from /proc/net/dev.

use memchr::memrchr;

use super::file::{Buffer, KeptFile};
use super::roots::Roots;
use super::scan::{lines, words};
use crate::telemetry::{Named, Network, NetworkIo};

const HEADER_LINES: usize = 2;

/// Reads the block `network`.
#[derive(Debug)]
pub(crate) struct Reader {
    dev: KeptFile,
}

impl Reader {
    pub(crate) fn open(roots: &Roots) -> Self {
        Self { dev: KeptFile::open(roots.proc.join("net/dev")) }
    }

    pub(crate) fn read(&mut self, buffer: &mut Buffer, network: &mut Network) {
        match self.dev.read(buffer) {
            Some(text) => parse(text, network),
            None => *network = Network::default(),
        }
    }
}

fn parse(text: &[u8], network: &mut Network) {
    let interfaces = network.netio_per_interface.get_or_insert_default();
    let mut sum = None;
    let mut count = 0;
    for (name, io) in lines(text).skip(HEADER_LINES).filter_map(parse_line) {
        *sum.get_or_insert_default() += io;
        count += usize::from(put_if_used(interfaces, count, name, io));
    }
    interfaces.truncate(count);
    network.netio_sum = sum;
}

fn put_if_used(interfaces: &mut Named<NetworkIo>, index: usize, name: &[u8], io: NetworkIo) -> bool {
    let used = io.bytes_sent > 0 && io.bytes_recv > 0;
    if used {
        interfaces.set(index, name, io);
    }
    used
}

/// A name may hold a colon, so the last one ends it.
fn parse_line(line: &[u8]) -> Option<(&[u8], NetworkIo)> {
    let colon = memrchr(b':', line)?;
    let mut numbers = words(&line[colon + 1..]);
    let mut columns = [0; 12];
    for column in &mut columns {
        *column = numbers.number()?;
    }
    let [
        bytes_recv,
        packets_recv,
        errin,
        dropped_in,
        _,
        _,
        _,
        _,
        bytes_sent,
        packets_sent,
        errout,
        dropped_out,
    ] = columns;
    let (dropin, dropout) = (Some(dropped_in), Some(dropped_out));
    let io = NetworkIo { bytes_sent, bytes_recv, packets_sent, packets_recv, errin, errout, dropin, dropout };
    Some((line[..colon].trim_ascii(), io))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Inter-|   Receive  |  Transmit\n face |bytes packets\n\
        \x20   lo:     100       2    0    0    0     0          0         0      100       2    0    0    0     0       0          0\n\
        eth0:1:60895531    2885    1    2    0     0          0         0   270213    2272    3    4    0     0       0          0\n\
        \x20 ifb0:       7       1    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n";

    #[test]
    fn all_count_and_only_used_ones_are_listed() {
        let mut network = Network::default();
        parse(TEXT.as_bytes(), &mut network);
        let json = serde_json::to_string(&network).unwrap();
        let expected = concat!(
            r#"{"netio_sum":{"bytes_sent":270313,"bytes_recv":60895638,"packets_sent":2274,"packets_recv":2888,"#,
            r#""errin":1,"errout":3,"dropin":2,"dropout":4},"netio_per_interface":{"#,
            r#""lo":{"bytes_sent":100,"bytes_recv":100,"packets_sent":2,"packets_recv":2,"#,
            r#""errin":0,"errout":0,"dropin":0,"dropout":0},"#,
            r#""eth0:1":{"bytes_sent":270213,"bytes_recv":60895531,"packets_sent":2272,"packets_recv":2885,"#,
            r#""errin":1,"errout":3,"dropin":2,"dropout":4}}}"#,
        );
        assert_eq!(json, expected);
    }

    #[test]
    fn interfaces_may_go_and_none_may_be_left() {
        let mut network = Network::default();
        parse(TEXT.as_bytes(), &mut network);
        parse(b"Inter-|\n face |\n", &mut network);
        assert_eq!(serde_json::to_string(&network).unwrap(), r#"{"netio_per_interface":{}}"#);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "\n\n([a-z]{0,3}:?[0-9 \n-]{0,60}){0,5}", noise: Vec<u8>) {
            let mut network = Network::default();
            parse(text.as_bytes(), &mut network);
            parse(&noise, &mut network);
        }
    }
}
