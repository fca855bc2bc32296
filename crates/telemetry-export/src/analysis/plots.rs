//! The seven plots of a session.

use super::{Analysis, Group, Packet, span};
use crate::error::ExportError;
use crate::plot::{Plot, Series, bars, cumulative, curves, histogram, scatter, seconds};

/// Layers and workers of a large model are many.
const BARS_MAX: usize = 64;
/// Into so many stretches time is divided.
const STRETCHES: usize = 120;

pub(super) fn draw(analysis: &Analysis) -> Result<Vec<(&'static str, Plot)>, ExportError> {
    let (first, last) = span(&analysis.packets);
    let span_s = last - first;
    let of = |point: &dyn Fn(usize, &Packet) -> (f64, f64)| by_device(analysis, point);
    let durations = of(&|_, packet| (packet.started_s() - first, packet.duration_ms / 1e3));
    let counts = of(&|number, packet| (packet.timestamp - first, number as f64 + 1.0));
    let mean = |ms: f64| seconds(ms / 1e3);
    let list = |groups: &[Group], value: fn(&Group) -> f64| -> Vec<(String, f64)> {
        groups.iter().take(BARS_MAX).map(|group| (group.name.clone(), value(group))).collect()
    };
    let used = utilization(analysis, first, span_s);
    Ok(vec![
        (
            "timeline",
            scatter("How long packets took, by their start".to_owned(), span_s, &durations, seconds)?,
        ),
        (
            "utilization",
            curves("Share of time in which each device worked".to_owned(), span_s, &used, |share| {
                format!("{:.0} %", share * 100.0)
            })?,
        ),
        ("distribution", histogram("How many packets took how long".to_owned(), &durations)?),
        (
            "layer",
            bars(
                "Mean time of a packet by layer".to_owned(),
                &list(&analysis.layers, |group| group.mean_ms),
                mean,
            )?,
        ),
        (
            "operation",
            bars(
                "Time of all packets by operation".to_owned(),
                &list(&analysis.operations, |group| group.total_ms),
                mean,
            )?,
        ),
        (
            "worker",
            bars(
                "Time of all packets by worker".to_owned(),
                &list(&analysis.workers, |group| group.total_ms),
                mean,
            )?,
        ),
        ("cumulative", cumulative("Packets so far".to_owned(), span_s, &counts)?),
    ])
}

/// A series for each device, its packets in the order of time and numbered.
fn by_device(analysis: &Analysis, point: &dyn Fn(usize, &Packet) -> (f64, f64)) -> Vec<Series> {
    let series = |group: &Group| {
        let mut packets: Vec<&Packet> =
            analysis.packets.iter().filter(|packet| packet.device == group.name).collect();
        packets.sort_by(|one, other| one.timestamp.total_cmp(&other.timestamp));
        let points = packets.into_iter().enumerate().map(|(number, packet)| point(number, packet)).collect();
        Series { name: group.name.clone(), points }
    };
    analysis.devices.iter().map(series).collect()
}

/// How much of each stretch of time the packets of a device fill; above 1 where several ran at once.
fn utilization(analysis: &Analysis, first: f64, span_s: f64) -> Vec<Series> {
    let width = (span_s / STRETCHES as f64).max(1e-9);
    let series = |group: &Group| {
        let mut filled = vec![0.0_f64; STRETCHES];
        for packet in analysis.packets.iter().filter(|packet| packet.device == group.name) {
            let (from, to) = (packet.started_s() - first, packet.timestamp - first);
            let stretches = (from / width) as usize..=((to / width) as usize).min(STRETCHES - 1);
            for stretch in stretches {
                let begin = stretch as f64 * width;
                filled[stretch] += (to.min(begin + width) - from.max(begin)).max(0.0) / width;
            }
        }
        let point = |(stretch, share): (usize, f64)| ((stretch as f64 + 0.5) * width, share);
        Series { name: group.name.clone(), points: filled.into_iter().enumerate().map(point).collect() }
    };
    analysis.devices.iter().map(series).collect()
}
