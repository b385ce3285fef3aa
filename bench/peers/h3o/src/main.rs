//! Encode and decode of the points of a file by h3o, s2 and open-location-code: `bench-peers POINTS.f64 WHAT TIMES`
//! prints nanoseconds of CPU a point. WHAT: h3o, h3o-text, h3o-decode, s2 (a cell of level 20), olc (11 digits).

use h3o::{CellIndex, LatLng, Resolution};
use std::fmt::Write;

fn cpu_ns() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&args[1]).expect("points");
    let what = args[2].as_str();
    let times: usize = args[3].parse().expect("times");
    let numbers: Vec<f64> =
        bytes.chunks_exact(8).map(|each| f64::from_ne_bytes(each.try_into().unwrap())).collect();
    let points: Vec<(f64, f64)> = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let cell_of = |(lat, lng): (f64, f64)| LatLng::new(lat, lng).unwrap().to_cell(Resolution::Thirteen);
    let cells: Vec<CellIndex> = points.iter().map(|&point| cell_of(point)).collect();
    let mut kept: u64 = 0;
    let mut text = String::with_capacity(32);
    let begin = cpu_ns();
    for _ in 0..times {
        match what {
            "h3o" => points.iter().for_each(|&point| kept ^= u64::from(cell_of(point))),
            "h3o-text" => points.iter().for_each(|&point| {
                text.clear();
                write!(text, "{}", cell_of(point)).unwrap();
                kept ^= text.as_bytes()[14] as u64;
            }),
            "h3o-decode" => cells.iter().for_each(|&cell| kept ^= LatLng::from(cell).lat().to_bits()),
            "s2" => points.iter().for_each(|&(lat, lng)| {
                let at = s2::latlng::LatLng::from_degrees(lat, lng);
                kept ^= s2::cellid::CellID::from(at).parent(20).0;
            }),
            "olc" => points.iter().for_each(|&(lat, lng)| {
                kept ^= open_location_code::encode(geo::Point::new(lng, lat), 11).len() as u64;
            }),
            _ => panic!("{what}"),
        }
    }
    let ns = (cpu_ns() - begin) / points.len() as f64 / times as f64;
    eprintln!("{kept}");
    println!("{ns:.2}");
}
