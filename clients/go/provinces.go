package hexcodes

// AdminUnit is one of the 34 provinces of Viet Nam since July 2025.
type AdminUnit struct {
	// Two or three letters: the start of every hexcode of the province.
	Code string
	// The province or city as written in Vietnamese.
	Name string
	// The provinces and cities that became this one in 2025: itself alone where nothing was merged.
	Merged []string
}

// AdminUnits has all of them, in the order of their admin numbers.
var AdminUnits = [...]AdminUnit{
	{"TQ", "Tuyên Quang", []string{"Hà Giang", "Tuyên Quang"}},
	{"CB", "Cao Bằng", []string{"Cao Bằng"}},
	{"LCU", "Lai Châu", []string{"Lai Châu"}},
	{"LCI", "Lào Cai", []string{"Lào Cai", "Yên Bái"}},
	{"TN", "Thái Nguyên", []string{"Bắc Kạn", "Thái Nguyên"}},
	{"DB", "Điện Biên", []string{"Điện Biên"}},
	{"LS", "Lạng Sơn", []string{"Lạng Sơn"}},
	{"SL", "Sơn La", []string{"Sơn La"}},
	{"PT", "Phú Thọ", []string{"Hòa Bình", "Vĩnh Phúc", "Phú Thọ"}},
	{"BN", "Bắc Ninh", []string{"Bắc Giang", "Bắc Ninh"}},
	{"QNH", "Quảng Ninh", []string{"Quảng Ninh"}},
	{"HN", "Hà Nội", []string{"Hà Nội"}},
	{"HP", "Hải Phòng", []string{"Hải Dương", "Hải Phòng"}},
	{"HY", "Hưng Yên", []string{"Thái Bình", "Hưng Yên"}},
	{"NB", "Ninh Bình", []string{"Hà Nam", "Ninh Bình", "Nam Định"}},
	{"TH", "Thanh Hóa", []string{"Thanh Hóa"}},
	{"NA", "Nghệ An", []string{"Nghệ An"}},
	{"HT", "Hà Tĩnh", []string{"Hà Tĩnh"}},
	{"QT", "Quảng Trị", []string{"Quảng Bình", "Quảng Trị"}},
	{"HUE", "Huế", []string{"Huế"}},
	{"DNG", "Đà Nẵng", []string{"Quảng Nam", "Đà Nẵng"}},
	{"QNG", "Quảng Ngãi", []string{"Quảng Ngãi", "Kon Tum"}},
	{"GL", "Gia Lai", []string{"Gia Lai", "Bình Định"}},
	{"DLK", "Đắk Lắk", []string{"Phú Yên", "Đắk Lắk"}},
	{"KH", "Khánh Hòa", []string{"Khánh Hòa", "Ninh Thuận"}},
	{"LD", "Lâm Đồng", []string{"Đắk Nông", "Lâm Đồng", "Bình Thuận"}},
	{"DN", "Đồng Nai", []string{"Bình Phước", "Đồng Nai"}},
	{"TNH", "Tây Ninh", []string{"Long An", "Tây Ninh"}},
	{"HCM", "TP. Hồ Chí Minh", []string{"Bình Dương", "TP.HCM", "Bà Rịa - Vũng Tàu"}},
	{"DT", "Đồng Tháp", []string{"Tiền Giang", "Đồng Tháp"}},
	{"AG", "An Giang", []string{"Kiên Giang", "An Giang"}},
	{"VL", "Vĩnh Long", []string{"Bến Tre", "Vĩnh Long", "Trà Vinh"}},
	{"CT", "Cần Thơ", []string{"Sóc Trăng", "Hậu Giang", "Cần Thơ"}},
	{"CM", "Cà Mau", []string{"Bạc Liêu", "Cà Mau"}},
}
