"""Calls every operation by the package that openapi-python-client makes. Arguments and output: oapi_main.go."""

import io
import sys

from generated import Client
from generated.api.looking_up import (
    admin_unit, admin_units, code_info, former_provinces, grid, grid_tile, meta, places, reverse, suggestions, usage,
)
from generated.api.many_at_a_time import decode_batch, decode_bulk, encode_batch, encode_bulk
from generated.api.one_at_a_time import decode, decode_post, encode, encode_post
from generated.api.trackers import traccar, traccar_url
from generated.models import (
    CodeItem, DecodeBatchRequest, DecodeRequest, EncodeBatchRequest, EncodeRequest, Point, TraccarRequest,
    TraccarRequestDevice, TraccarRequestPosition,
)
from generated.types import File

base, key, lat, lng, due = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
CODE = "HN-6GHP4-83RFR"
client = Client(base_url=base, headers={"X-API-Key": key}, raise_on_unexpected_status=True)
csv = lambda text: File(payload=io.BytesIO(text.encode()))
batch = EncodeBatchRequest(points=[Point(lat=lat, lng=lng, resolution=15), Point(lat=0.0, lng=0.0)])
codes = DecodeBatchRequest(hexcodes=[CodeItem(hexcodes=CODE), CodeItem(hexcodes="nope")])
position = TraccarRequest(
    position=TraccarRequestPosition(latitude=21.0288, longitude=105.8525), device=TraccarRequestDevice(unique_id="1")
)
CHECKS = {
    "encode": lambda: encode.sync(client=client, lat=lat, lng=lng, resolution=15).hexcodes == due,
    "encodePost": lambda: encode_post.sync(
        client=client, body=EncodeRequest(lat=lat, lng=lng, resolution=15)
    ).hexcodes == due,
    "decode": lambda: decode.sync(client=client, hexcodes=CODE).lat == 21.02879832129181,
    "decodePost": lambda: decode_post.sync(client=client, body=DecodeRequest(hexcodes="nope")).lat is None,
    "encodeBatch": lambda: [(r.hexcodes, r.index) for r in encode_batch.sync(client=client, body=batch).results][1]
    == (None, 1),
    "decodeBatch": lambda: decode_batch.sync(client=client, body=codes).results[1].code == "hexcode_invalid",
    "encodeBulk": lambda: CODE in encode_bulk.sync_detailed(
        client=client, body=csv("lat,lng\n21.0288,105.8525\n")
    ).content.decode(),
    "decodeBulk": lambda: "21.02879832129181" in decode_bulk.sync_detailed(
        client=client, body=csv(f"hexcodes\n{CODE}\n")
    ).content.decode(),
    "codeInfo": lambda: code_info.sync(CODE, client=client).province == "Hà Nội",
    "suggestions": lambda: suggestions.sync("HN-6GHP4-B3RFR", client=client).suggestions[0].slip == "twin",
    "places": lambda: len(places.sync(client=client, q="ha long").places) > 0,
    "grid": lambda: len(grid.sync(12, 3252, 1803, client=client).features) > 0,
    "gridTile": lambda: len(grid_tile.sync_detailed(12, 3252, 1803, client=client).content) > 100,
    "adminUnits": lambda: len(admin_units.sync(client=client).admin_units) == 34,
    "formerProvinces": lambda: len(former_provinces.sync(client=client).former_provinces) == 63,
    "adminUnit": lambda: admin_unit.sync("HN", client=client).name == "Hà Nội",
    "reverse": lambda: reverse.sync(client=client, lat=21.0288, lon=105.8525).name == CODE,
    "traccar": lambda: traccar.sync(client=client, body=position).hexcodes == CODE,
    "traccarUrl": lambda: traccar_url.sync(client=client, unique_id="1", latitude=0.0, longitude=0.0).hexcodes is None,
    "meta": lambda: meta.sync(client=client).service.name == "hexcodes",
    "usage": lambda: usage.sync(client=client).day.requests > 0,
}
done, faults = 0, []
for name, check in CHECKS.items():
    try:
        if check():
            done += 1
        else:
            faults.append(f"{name}: another answer than is due")
    except Exception as error:  # noqa: BLE001
        faults.append(f"{name}: {error!r}"[:300].replace("\n", " "))
print(done)
print("\n".join(faults))
