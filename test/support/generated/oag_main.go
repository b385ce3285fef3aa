// The same by the client of openapi-generator. Its queries print numbers with 32 bits, whatever the document says, so
// positions travel in bodies.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	api "generated/api"
)

var faults []string
var done int

func check(name string, err error, r *http.Response, isRight bool) {
	status := 0
	if r != nil {
		status = r.StatusCode
	}
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
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: base}}
	configuration.AddDefaultHeader("X-API-Key", key)
	c := api.NewAPIClient(configuration)
	code := "HN-6GHP4-83RFR"
	{
		a, r, err := c.OneAtATimeAPI.Encode(ctx).Lat(21.0288).Lng(105.8525).Resolution(9).Execute()
		check("encode", err, r, a != nil && a.Hexcodes == "HN-6GHP4-7QQ")
	}
	{
		body := api.NewEncodeRequest(lat, lng)
		body.SetResolution(15)
		a, r, err := c.OneAtATimeAPI.EncodePost(ctx).EncodeRequest(*body).Execute()
		check("encodePost", err, r, a != nil && a.Hexcodes == due)
	}
	{
		a, r, err := c.OneAtATimeAPI.Decode(ctx).Hexcodes(code).Execute()
		check("decode", err, r, a != nil && a.Lat.Get() != nil && *a.Lat.Get() == 21.02879832129181)
	}
	{
		a, r, err := c.OneAtATimeAPI.DecodePost(ctx).DecodeRequest(*api.NewDecodeRequest("nope")).Execute()
		check("decodePost", err, r, a != nil && a.Lat.Get() == nil && a.Status == "INVALID_HEXCODES")
	}
	{
		one, other := api.NewPoint(lat, lng), api.NewPoint(0, 0)
		one.SetResolution(15)
		body := api.NewEncodeBatchRequest([]api.EncodeBatchRequestPointsInner{{Point: one}, {Point: other}})
		a, r, err := c.ManyAtATimeAPI.EncodeBatch(ctx).EncodeBatchRequest(*body).Execute()
		check("encodeBatch", err, r, a != nil && len(a.Results) == 2 && *a.Results[0].Hexcodes.Get() == due && a.Results[1].GetIndex() == 1)
	}
	{
		body := api.NewDecodeBatchRequest([]api.DecodeBatchRequestHexcodesInner{{CodeItem: api.NewCodeItem(code)}, {CodeItem: api.NewCodeItem("nope")}})
		a, r, err := c.ManyAtATimeAPI.DecodeBatch(ctx).DecodeBatchRequest(*body).Execute()
		check("decodeBatch", err, r, a != nil && len(a.Results) == 2 && a.Results[0].GetResolution() == 13 && a.Results[1].GetCode() == "hexcode_invalid")
	}
	{
		a, r, err := c.ManyAtATimeAPI.EncodeBulk(ctx).Body("lat,lng\n21.0288,105.8525\n").Execute()
		check("encodeBulk", err, r, strings.Contains(a, code))
	}
	{
		a, r, err := c.ManyAtATimeAPI.DecodeBulk(ctx).Body("hexcodes\n" + code + "\n").Execute()
		check("decodeBulk", err, r, strings.Contains(a, "21.02879832129181"))
	}
	{
		a, r, err := c.LookingUpAPI.CodeInfo(ctx, code).Execute()
		check("codeInfo", err, r, a != nil && a.Province == "Hà Nội")
	}
	{
		a, r, err := c.LookingUpAPI.Suggestions(ctx, "HN-6GHP4-B3RFR").Execute()
		check("suggestions", err, r, a != nil && len(a.Suggestions) > 0 && a.Suggestions[0].Slip == "twin")
	}
	{
		a, r, err := c.LookingUpAPI.Places(ctx).Q("ha long").Execute()
		check("places", err, r, a != nil && len(a.Places) > 0)
	}
	{
		a, r, err := c.LookingUpAPI.Grid(ctx, 12, 3252, 1803).Execute()
		check("grid", err, r, a != nil && len(a.Features) > 0)
	}
	{
		a, r, err := c.LookingUpAPI.GridTile(ctx, 12, 3252, 1803).Execute()
		size := 0
		if a != nil {
			bytes, _ := io.ReadAll(a)
			size = len(bytes)
		}
		check("gridTile", err, r, size > 100)
	}
	{
		a, r, err := c.LookingUpAPI.AdminUnits(ctx).Execute()
		check("adminUnits", err, r, a != nil && len(a.AdminUnits) == 34)
	}
	{
		a, r, err := c.LookingUpAPI.FormerProvinces(ctx).Execute()
		check("formerProvinces", err, r, a != nil && len(a.FormerProvinces) == 63)
	}
	{
		a, r, err := c.LookingUpAPI.AdminUnit(ctx, "HN").Execute()
		check("adminUnit", err, r, a != nil && a.Name == "Hà Nội")
	}
	{
		a, r, err := c.LookingUpAPI.Reverse(ctx).Lat(21.0288).Lon(105.8525).Resolution(9).Execute()
		check("reverse", err, r, a != nil && a.GetName() == "HN-6GHP4-7QQ")
	}
	{
		body := api.NewTraccarRequest(*api.NewTraccarRequestPosition(21.0288, 105.8525), *api.NewTraccarRequestDevice("1"))
		a, r, err := c.TrackersAPI.Traccar(ctx).TraccarRequest(*body).Execute()
		check("traccar", err, r, a != nil && *a.Hexcodes.Get() == code)
	}
	{
		a, r, err := c.TrackersAPI.TraccarUrl(ctx).UniqueId("1").Latitude(0).Longitude(0).Execute()
		check("traccarUrl", err, r, a != nil && a.Status == "NOT_FOUND" && a.Hexcodes.Get() == nil)
	}
	{
		a, r, err := c.LookingUpAPI.Meta(ctx).Execute()
		check("meta", err, r, a != nil && a.Service.Name == "hexcodes")
	}
	{
		a, r, err := c.LookingUpAPI.Usage(ctx).Execute()
		check("usage", err, r, a != nil && a.Day.Requests > 0)
	}
	fmt.Println(done)
	for _, fault := range faults {
		fmt.Println(fault)
	}
}
