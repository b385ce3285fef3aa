package hexcodes

import (
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Slip is what turns a code into the text that was typed.
type Slip string

// The slips, from the most to the least likely.
const (
	// The text is a valid code.
	SlipNone Slip = "none"
	// One symbol taken for one that looks or sounds like it.
	SlipTwin Slip = "twin"
	// Two symbols next to each other in the wrong order.
	SlipSwap Slip = "swap"
	// One symbol wrong.
	SlipSubstitution Slip = "substitution"
	// One symbol too many.
	SlipExtra Slip = "extra"
	// One symbol missing.
	SlipMissing Slip = "missing"
	// The letters of another province, or none, before a correct rest.
	SlipProvince Slip = "province"
)

var slips = []Slip{SlipNone, SlipTwin, SlipSwap, SlipSubstitution, SlipExtra, SlipMissing, SlipProvince}

// Suggestion is a valid code that a text was probably meant to be.
type Suggestion struct {
	Decoded
	// The slip that turns this code into the text.
	Slip Slip
	// From near to the centre of the cell, metres; NaN without near.
	DistanceM float64
}

// Near is a position in degrees to which the code that was meant is probably close.
type Near struct{ Lat, Lng float64 }

const (
	symbols = "23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	// Fewest symbols of a code without its province: shorter ones may be anything.
	leastWithoutProvince = 6
	// Positions around near whose codes are searched for an end: steps to each side, 5.5 km, and degrees of a step, 280 m.
	steps   = 20
	stepDeg = 1.0 / 400
	// Resolution of the cell that province and first group stand for.
	leftOutResolution = 7
	checkSymbols      = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// Mean radius of the Earth, as H3 has it.
	earthRadiusM = 6371007.180918475
)

// twins are groups of characters that people, fonts and telephones mistake for one another.
var twins = strings.Fields("0ODQCG 1ILJ7T 5S 2Z 8B3 UV NMH VYX 6G 4A 9GP FPR KX CX")

// Suggest gives the valid codes that a text was probably meant to be, at most limit: itself if it reads, else every valid code one slip away,
// including one with a wrong or missing province, else the one near that ends as the text does; none if more than one thing is wrong, the text
// has over 64 UTF-16 units or near is not a position.
// They come by distance if near is not nil, else by slip (a look-alike before any other wrong symbol), then in byte order.
func (h *Hexcodes) Suggest(text string, near *Near, limit int) []Suggestion {
	units, ok := unitsOf(text)
	if !ok || near != nil && !(math.Abs(near.Lat) <= 90 && math.Abs(near.Lng) <= 180) {
		return nil
	}
	k := h.take()
	defer h.give(k)
	found := map[string]bool{}
	var suggestions []Suggestion
	consider := func(candidate []uint16, slip Slip) {
		if len(candidate) > maxTextUnits {
			return
		}
		decoded, ok := k.decode(candidate)
		if !ok || found[decoded.Code] {
			return
		}
		found[decoded.Code] = true
		distance := math.NaN()
		if near != nil {
			distance = distanceM(near.Lat, near.Lng, decoded.Lat, decoded.Lng)
		}
		suggestions = append(suggestions, Suggestion{decoded, slip, distance})
	}
	consider(units, SlipNone)
	if len(suggestions) == 0 {
		eachEdit(units, consider)
		eachProvince(text, consider)
	}
	if len(suggestions) == 0 && near != nil && isEnd(text) {
		if whole := k.lengthen(text, *near); whole != "" {
			consider(utf16.Encode([]rune(whole)), SlipProvince)
		}
	}
	sort.SliceStable(suggestions, func(i, j int) bool {
		a, b := suggestions[i], suggestions[j]
		if near != nil && a.DistanceM != b.DistanceM {
			return a.DistanceM < b.DistanceM
		}
		if first, second := likelihood(a.Slip), likelihood(b.Slip); first != second {
			return first < second
		}
		return a.Code < b.Code
	})
	return suggestions[:min(len(suggestions), max(limit, 0))]
}

// isEnd says whether a text may be a code without its beginning: three to ten symbols with a digit among them.
func isEnd(text string) bool {
	count, hasDigit := 0, false
	for _, r := range text {
		if isSymbol(r) {
			count++
			hasDigit = hasDigit || isDigit(r)
		} else if r != '-' && !isSpace(r) {
			return false
		}
	}
	return count >= 3 && count <= 10 && hasDigit
}

// lengthen gives the code near a position that ends as a text does: its nearest cell, whatever the check symbol, if that is right.
func (k *instance) lengthen(text string, near Near) string {
	nearest, nearestM := "", math.Inf(1)
	last := strings.LastIndexFunc(text, isSymbol)
	for _, start := range k.startsAround(near) {
		for i, check := range text[last:last+1] + checkSymbols {
			decoded, ok := k.decode(utf16.Encode([]rune(start + "-" + text[:last] + string(check) + text[last+1:])))
			if !ok || decoded.Resolution <= leftOutResolution || !strings.HasPrefix(decoded.Code, start) {
				continue
			}
			// Provinces share the cells on their border: each has its own code, of which one has the right check symbol.
			farM := distanceM(near.Lat, near.Lng, decoded.Lat, decoded.Lng)
			if farM < nearestM || farM == nearestM && nearest == "" {
				nearest, nearestM = "", farM
				if i == 0 {
					nearest = decoded.Code
				}
			}
			break
		}
	}
	return nearest
}

// startsAround gives province and first group of the codes around a position, from the south, then from the west.
func (k *instance) startsAround(near Near) []string {
	var starts []string
	found := map[string]bool{}
	for i := -steps; i <= steps; i++ {
		for j := -steps; j <= steps; j++ {
			lat, lng := near.Lat+float64(i)*stepDeg, near.Lng+float64(j)*stepDeg
			if k.call(k.encodeOne, math.Float64bits(lat), math.Float64bits(lng), 15) != 0 {
				continue
			}
			start := strings.Join(strings.SplitN(textOf(k.bytes(k.output, recordBytes)), "-", 3)[:2], "-")
			if !found[start] {
				found[start] = true
				starts = append(starts, start)
			}
		}
	}
	return starts
}

func likelihood(slip Slip) int {
	for i, each := range slips {
		if each == slip {
			return i
		}
	}
	return len(slips)
}

func eachEdit(units []uint16, consider func([]uint16, Slip)) {
	areSymbols := make([]bool, len(units))
	for i, unit := range units {
		areSymbols[i] = !isSpace(rune(unit)) && !unicode.IsPunct(rune(unit))
	}
	edited := func(from, to int, between ...uint16) []uint16 {
		return append(append(append(make([]uint16, 0, len(units)+1), units[:from]...), between...), units[to:]...)
	}
	for i := 0; i <= len(units); i++ {
		for _, symbol := range symbols {
			consider(edited(i, i, uint16(symbol)), SlipMissing)
		}
	}
	for i, typed := range units {
		consider(edited(i, i+1), SlipExtra)
		if !areSymbols[i] {
			// Punctuation that is not a separator ("HN/6GHMK") is replaced by one.
			consider(edited(i, i+1, '-'), SlipExtra)
		}
		for _, symbol := range symbols {
			if uint16(symbol) == typed {
				continue
			}
			slip := SlipSubstitution
			if areTwins(symbol, rune(typed)) {
				slip = SlipTwin
			}
			consider(edited(i, i+1, uint16(symbol)), slip)
		}
		next := i + 1
		for next < len(units) && !areSymbols[next] {
			next++
		}
		if areSymbols[i] && next < len(units) && units[next] != typed {
			swapped := edited(i, i+1, units[next])
			swapped[next] = typed
			consider(swapped, SlipSwap)
		}
	}
}

// eachProvince tries the letters of each province in front of the text, and in the place of those that it has.
func eachProvince(text string, consider func([]uint16, Slip)) {
	count, hasDigit := 0, false
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			count += len(utf16.Encode([]rune{r}))
		}
		hasDigit = hasDigit || isDigit(r)
	}
	if count >= leastWithoutProvince && hasDigit {
		for _, unit := range AdminUnits {
			consider(utf16.Encode([]rune(unit.Code+"-"+strings.TrimFunc(text, isSpace))), SlipProvince)
		}
	}
	runes := []rune(strings.TrimLeftFunc(text, isSpace))
	for letters := 2; letters <= 3; letters++ {
		if len(runes) < letters || strings.IndexFunc(string(runes[:letters]), func(r rune) bool { return !unicode.IsLetter(r) }) >= 0 {
			continue
		}
		rest := string(runes[letters:])
		after := strings.TrimLeftFunc(rest, func(r rune) bool { return isSpace(r) || unicode.IsPunct(r) })
		if strings.IndexFunc(after, func(r rune) bool { return unicode.IsLetter(r) || isDigit(r) }) != 0 {
			continue
		}
		for _, unit := range AdminUnits {
			consider(utf16.Encode([]rune(unit.Code+rest)), SlipProvince)
		}
	}
}

func areTwins(a, b rune) bool {
	upper := unicode.ToUpper(b)
	for _, group := range twins {
		if strings.ContainsRune(group, a) && strings.ContainsRune(group, upper) {
			return true
		}
	}
	return false
}

// isSymbol says whether a character may be a symbol of a code.
func isSymbol(r rune) bool { return isDigit(r) || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// isSpace is the white space of ECMAScript, which the service and the library take.
func isSpace(r rune) bool { return r == 0xfeff || (unicode.IsSpace(r) && r != 0x85) }

// distanceM is the great-circle distance of two positions in degrees, metres.
func distanceM(latA, lngA, latB, lngB float64) float64 {
	const degree = math.Pi / 180
	sinLat, sinLng := math.Sin((latB-latA)*degree/2), math.Sin((lngB-lngA)*degree/2)
	a := sinLat*sinLat + sinLng*sinLng*math.Cos(latA*degree)*math.Cos(latB*degree)
	return 2 * math.Atan2(math.Sqrt(a), math.Sqrt(1-a)) * earthRadiusM
}
