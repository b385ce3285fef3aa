"""Writes an archive of map tiles by the writer of Protomaps (python3 -m pip install pmtiles): a JSON object of its header and
metadata, then a line {"z", "x", "y", "data"} for each tile, on standard input; the file is the argument."""
import base64
import json
import sys

import pmtiles.writer
from pmtiles.tile import Compression, TileType, zxy_to_tileid
from pmtiles.writer import Writer

head, *tiles = [json.loads(line) for line in sys.stdin]
west, south, east, north = (round(degrees * 10_000_000) for degrees in head["bounds"])
header = {
    "tile_type": TileType[head["type"]],
    "tile_compression": Compression[head["compression"]],
    "min_lon_e7": west,
    "min_lat_e7": south,
    "max_lon_e7": east,
    "max_lat_e7": north,
    "center_zoom": 10,
    "center_lon_e7": (west + east) // 2,
    "center_lat_e7": (south + north) // 2,
}
# As in archives of whole countries, whose directory does not fit into the beginning of the file.
if head["leaf"] > 0:
    pmtiles.writer.optimize_directories = lambda entries, _: pmtiles.writer.build_roots_leaves(entries, head["leaf"])

with open(sys.argv[1], "wb") as file:
    writer = Writer(file)
    for tile in sorted(tiles, key=lambda tile: zxy_to_tileid(tile["z"], tile["x"], tile["y"])):
        writer.write_tile(zxy_to_tileid(tile["z"], tile["x"], tile["y"]), base64.b64decode(tile["data"]))
    writer.finalize(header, head["metadata"])
