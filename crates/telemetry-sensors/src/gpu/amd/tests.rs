//! Recorded trees of cards.

use std::fs;
use std::path::Path;

use telemetry_core::settings::GPU_METRICS;

use super::*;

/// A discrete card with a table of revision 1.3, and one whose table is unknown.
fn record(sys: &Path) {
    let write = |name: &str, content: &[u8]| {
        let path = sys.join("class/drm").join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    };
    write("card0/device/vendor", b"0x8086\n");
    write("card1-DP-1/status", b"connected\n");
    for card in ["card1", "card2"] {
        write(&format!("{card}/device/vendor"), b"0x1002\n");
        write(&format!("{card}/device/mem_info_vram_total"), b"17163091968\n");
        write(&format!("{card}/device/mem_info_vram_used"), b"1024\n");
        write(&format!("{card}/device/gpu_busy_percent"), b"37\n");
        write(&format!("{card}/device/unique_id"), format!("ab{card}\n").as_bytes());
    }
    write("card1/device/product_name", b"Instinct\n");
    write("card1/device/gpu_metrics", &table());
    write("card2/device/gpu_metrics", &[0, 0, 9, 9]);
    write("card2/device/mem_busy_percent", b"12\n");
    write("card2/device/pp_dpm_socclk", b"0: 400Mhz\n1: 800Mhz *\n2: 1200Mhz\n");
    for (name, value) in [
        ("name", "amdgpu"),
        ("temp1_label", "edge"),
        ("temp1_input", "45000"),
        ("temp2_label", "junction"),
        ("temp2_input", "51000"),
        ("power1_average", "35000000"),
        ("fan1_input", "900"),
        ("freq1_input", "1700000000"),
        ("freq2_input", "1000000000"),
    ] {
        write(&format!("card2/device/hwmon/hwmon3/{name}"), value.as_bytes());
    }
}

fn table() -> Vec<u8> {
    let mut bytes = vec![0xff; 120];
    bytes[..4].copy_from_slice(&[120, 0, 1, 3]);
    let mut set = |at: usize, value: u16| bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    for (at, value) in
        [(4, 40), (6, 50), (8, 60), (10, 70), (16, 99), (18, 20), (22, 250), (54, 1700), (58, 1600)]
    {
        set(at, value);
    }
    set(72, 1500);
    set(88, 61);
    set(90, 62);
    bytes[24..32].copy_from_slice(&123_456_789_u64.to_le_bytes());
    bytes
}

fn read(metrics: &[&str], rocr_visible_devices: Option<&str>) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    record(folder.path());
    let names: Vec<_> = metrics.iter().map(|name| (*name).to_owned()).collect();
    let metrics = Metrics::new(&names, &mut Vec::new()).expect("known metrics");
    let mut options = GpuOptions { sys: folder.path().into(), ..GpuOptions::default() };
    options.rocr_visible_devices = rocr_visible_devices.map(str::to_owned);
    let mut gpus = Named::default();
    Cards::open(metrics, &options)?.read(&mut gpus);
    Ok(serde_json::to_string(&gpus).expect("cards are JSON"))
}

#[test]
fn a_card_with_a_table_and_one_without() {
    let expected = concat!(
        r#"{"gpu_0":{"gpu_ix":0,"used":1024,"total":17163091968,"utilization":37,"#,
        r#""activity":{"gfx_activity":99,"umc_activity":20},"#,
        r#""power":{"average_socket_power":250,"energy_accumulator":123456789},"#,
        r#""temperature":{"edge":40,"hotspot":50,"mem":60,"vrgfx":70,"hbm":[61,62],"fan_speed":1500},"#,
        r#""others":{"current_gfxclk":1700,"current_uclk":1600},"clocks":{"graphics":1700,"memory":1600},"#,
        r#""processes":{},"name":"Instinct","id":"GPU-abcard1"},"#,
        r#""gpu_1":{"gpu_ix":1,"used":1024,"total":17163091968,"utilization":37,"#,
        r#""activity":{"gfx_activity":37,"umc_activity":12},"power":{"average_socket_power":35},"#,
        r#""temperature":{"edge":45,"hotspot":51,"fan_speed":900},"#,
        r#""others":{"current_gfxclk":1700,"current_socclk":800,"current_uclk":1000},"#,
        r#""clocks":{"graphics":1700,"memory":1000},"processes":{},"id":"GPU-abcard2"}}"#,
    );
    assert_eq!(read(GPU_METRICS, None).unwrap(), expected);
}

#[test]
fn an_id_alone_is_told() {
    assert_eq!(read(&["id"], Some("1")).unwrap(), r#"{"gpu_1":{"gpu_ix":1,"id":"GPU-abcard2"}}"#);
}

#[test]
fn visible_cards_by_number_and_by_id() {
    let order = r#"{"gpu_1":{"gpu_ix":1,"used":1024},"gpu_0":{"gpu_ix":0,"used":1024}}"#;
    assert_eq!(read(&["used"], Some("1,0")).unwrap(), order);
    assert_eq!(read(&["used"], Some("GPU-abcard2,GPU-abcard1")).unwrap(), order);
    let hidden = read(&["used"], Some("-1")).unwrap_err();
    assert_eq!(hidden, "ROCR_VISIBLE_DEVICES hides all AMD cards, 2 in number");
}
