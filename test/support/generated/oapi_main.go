// Calls every operation by the client that oapi-codegen makes. Arguments: address, key, code that is due, as JSON
// (lat, lng, code). Prints the number of operations that are right, then a line for each fault.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

var faults []string
var done int

func check(name string, err error, status int, isRight bool) {
	if err == nil && status == 200 && isRight {
		done++
		return
	}
	faults = append(faults, fmt.Sprintf("%s: %v, status %d", name, err, status))
}

func main() {
	base, key, due := os.Args[1], os.Args[2], os.Args[5]
	lat, _ := strconv.ParseFloat(os.Args[3], 64)
	lng, _ := strconv.ParseFloat(os.Args[4], 64)
	ctx := context.Background()
	c, err := NewClientWithResponses(base, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-API-Key", key)
		return nil
	}))
	if err != nil {
		panic(err)
	}
	finest := int32(15)
	code := "HN-6GHP4-83RFR"
	{
		r, err := c.EncodeWithResponse(ctx, &EncodeParams{Lat: lat, Lng: lng, Resolution: &finest})
		check("encode", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Hexcodes == due)
	}
	{
		r, err := c.EncodePostWithResponse(ctx, &EncodePostParams{}, EncodeRequest{Lat: lat, Lng: lng, Resolution: &finest})
		check("encodePost", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Hexcodes == due)
	}
	{
		r, err := c.DecodeWithResponse(ctx, &DecodeParams{Hexcodes: code})
		check("decode", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Lat != nil && *r.JSON200.Lat == 21.02879832129181)
	}
	{
		r, err := c.DecodePostWithResponse(ctx, &DecodePostParams{}, DecodeRequest{Hexcodes: "nope"})
		check("decodePost", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Lat == nil && r.JSON200.Status == "INVALID_HEXCODES")
	}
	{
		var one, other EncodeBatchRequest_Points_Item
		one.FromPoint(Point{Lat: lat, Lng: lng, Resolution: &finest})
		other.FromPoint(Point{Lat: 0, Lng: 0})
		r, err := c.EncodeBatchWithResponse(ctx, &EncodeBatchParams{}, EncodeBatchRequest{Points: []EncodeBatchRequest_Points_Item{one, other}})
		isRight := r.JSON200 != nil && len(r.JSON200.Results) == 2 && *r.JSON200.Results[0].Hexcodes == due && *r.JSON200.Results[1].Index == 1
		check("encodeBatch", err, r.StatusCode(), isRight)
	}
	{
		var one, other DecodeBatchRequest_Hexcodes_Item
		one.FromCodeItem(CodeItem{Hexcodes: code})
		other.FromCodeItem(CodeItem{Hexcodes: "nope"})
		r, err := c.DecodeBatchWithResponse(ctx, &DecodeBatchParams{}, DecodeBatchRequest{Hexcodes: []DecodeBatchRequest_Hexcodes_Item{one, other}})
		isRight := r.JSON200 != nil && len(r.JSON200.Results) == 2 && *r.JSON200.Results[0].Resolution == 13 && *r.JSON200.Results[1].Code == "hexcode_invalid"
		check("decodeBatch", err, r.StatusCode(), isRight)
	}
	{
		r, err := c.EncodeBulkWithBodyWithResponse(ctx, &EncodeBulkParams{}, "text/csv", strings.NewReader("lat,lng\n21.0288,105.8525\n"))
		check("encodeBulk", err, r.StatusCode(), bytes.Contains(r.Body, []byte(code)))
	}
	{
		r, err := c.DecodeBulkWithBodyWithResponse(ctx, &DecodeBulkParams{}, "text/csv", strings.NewReader("hexcodes\n"+code+"\n"))
		check("decodeBulk", err, r.StatusCode(), bytes.Contains(r.Body, []byte("21.02879832129181")))
	}
	{
		r, err := c.CodeInfoWithResponse(ctx, code)
		check("codeInfo", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Province == "Hà Nội")
	}
	{
		r, err := c.SuggestionsWithResponse(ctx, "HN-6GHP4-B3RFR", &SuggestionsParams{})
		check("suggestions", err, r.StatusCode(), r.JSON200 != nil && len(r.JSON200.Suggestions) > 0 && r.JSON200.Suggestions[0].Slip == "twin")
	}
	{
		r, err := c.PlacesWithResponse(ctx, &PlacesParams{Q: "ha long"})
		check("places", err, r.StatusCode(), r.JSON200 != nil && len(r.JSON200.Places) > 0)
	}
	{
		r, err := c.GridWithResponse(ctx, 12, 3252, 1803)
		check("grid", err, r.StatusCode(), r.JSON200 != nil && len(r.JSON200.Features) > 0)
	}
	{
		r, err := c.GridTileWithResponse(ctx, 12, 3252, 1803)
		check("gridTile", err, r.StatusCode(), len(r.Body) > 100)
	}
	{
		r, err := c.AdminUnitsWithResponse(ctx)
		check("adminUnits", err, r.StatusCode(), r.JSON200 != nil && len(r.JSON200.AdminUnits) == 34)
	}
	{
		r, err := c.FormerProvincesWithResponse(ctx)
		check("formerProvinces", err, r.StatusCode(), r.JSON200 != nil && len(r.JSON200.FormerProvinces) == 63)
	}
	{
		r, err := c.AdminUnitWithResponse(ctx, "HN")
		check("adminUnit", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Name == "Hà Nội")
	}
	{
		r, err := c.ReverseWithResponse(ctx, &ReverseParams{Lat: 21.0288, Lon: 105.8525})
		check("reverse", err, r.StatusCode(), r.JSON200 != nil && *r.JSON200.Name == code)
	}
	{
		body := TraccarRequest{}
		body.Device.UniqueId = "1"
		body.Position.Latitude, body.Position.Longitude = 21.0288, 105.8525
		r, err := c.TraccarWithResponse(ctx, &TraccarParams{}, body)
		check("traccar", err, r.StatusCode(), r.JSON200 != nil && *r.JSON200.Hexcodes == code)
	}
	{
		r, err := c.TraccarUrlWithResponse(ctx, &TraccarUrlParams{UniqueId: "1", Latitude: 0, Longitude: 0})
		check("traccarUrl", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Status == "NOT_FOUND" && r.JSON200.Hexcodes == nil)
	}
	{
		r, err := c.MetaWithResponse(ctx)
		check("meta", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Service.Name == "hexcodes")
	}
	{
		r, err := c.UsageWithResponse(ctx)
		check("usage", err, r.StatusCode(), r.JSON200 != nil && r.JSON200.Day.Requests > 0)
	}
	fmt.Println(done)
	for _, fault := range faults {
		fmt.Println(fault)
	}
}
