// Names of places in Viet Nam: some 700 provinces of today and before, towns and landmarks, found by what people type,
// and the nearest of them to a position in words. It is a list of names, no geocoder: streets and houses are not in it.

import { ADMIN_UNITS } from '../admin-units.js';
import { HexcodesError, requireKnown } from '../errors.js';
import { latLngOf, type Position } from '../geometry/codebook.js';
import { isOneSlip } from '../wire/params/names.js';

// Written by `npm run data -- --names`; data/README.md says from what. Rows: kind and name, latitude, longitude, about
// half its width in kilometres, of provinces the seats that have another name. Towns: © GeoNames, CC BY 4.0.
export const PLACE_LIST = `
PTuyên Quang|22.5000|105.1000|69;PCao Bằng|22.7500|106.1000|48;PLai Châu|22.3000|103.2000|56
PLào Cai|22.0500|104.3500|67;PThái Nguyên|22.0500|105.8500|54;PĐiện Biên|21.7000|103.0000|57|Điện Biên Phủ
PLạng Sơn|21.8500|106.6000|54;PSơn La|21.2000|104.0500|70;PPhú Thọ|21.0000|105.3000|57|Việt Trì,Phú Thọ
PBắc Ninh|21.3000|106.4000|40;PQuảng Ninh|21.2500|107.2500|43|Hạ Long;PHà Nội|21.0000|105.7000|34
PHải Phòng|20.8500|106.5000|32;PHưng Yên|20.6500|106.2500|29;PNinh Bình|20.3000|106.0500|36
PThanh Hóa|20.0500|105.3000|61;PNghệ An|19.2500|104.9500|75|Vinh;PHà Tĩnh|18.3000|105.7500|45
PQuảng Trị|17.2500|106.5500|65|Đồng Hới,Đông Hà;PHuế|16.3000|107.5000|39;PĐà Nẵng|15.6500|107.9500|61
PQuảng Ngãi|14.7500|108.1500|70;PGia Lai|13.9000|108.4500|84|Quy Nhơn,Pleiku
PĐắk Lắk|12.9000|108.4500|77|Buôn Ma Thuột;PKhánh Hòa|12.1000|108.9500|51|Nha Trang
PLâm Đồng|11.6500|107.9500|89|Đà Lạt;PĐồng Nai|11.4500|107.0500|64|Biên Hòa;PTây Ninh|11.0500|106.2000|52
PTP. Hồ Chí Minh|10.8500|106.8500|47|Thành phố Hồ Chí Minh;PĐồng Tháp|10.5000|105.9000|43|Mỹ Tho,Cao Lãnh
PAn Giang|10.2000|105.0500|57|Rạch Giá,Long Xuyên;PVĩnh Long|10.0000|106.3000|44;PCần Thơ|9.7500|105.7500|45
PCà Mau|9.1500|105.2000|49;FHà Giang|22.7500|105.0000|52;FYên Bái|21.8000|104.5500|48;FBắc Kạn|22.2500|105.8500|41
FHòa Bình|20.7000|105.3500|40;FVĩnh Phúc|21.3500|105.5500|21|Vĩnh Yên;FBắc Giang|21.3500|106.5000|36
FHải Dương|20.9500|106.3500|24;FThái Bình|20.5000|106.4000|23;FHà Nam|20.5500|105.9500|17|Phủ Lý
FNam Định|20.3000|106.2000|23;FQuảng Bình|17.5500|106.3000|52|Đồng Hới;FQuảng Nam|15.6000|107.9500|59|Tam Kỳ
FKon Tum|14.6500|107.9000|56;FBình Định|14.1500|108.9500|44|Quy Nhơn;FPhú Yên|13.1500|109.0500|40|Tuy Hòa
FNinh Thuận|11.7000|108.8500|33|Phan Rang-Tháp Chàm;FĐắk Nông|12.2500|107.7000|46|Gia Nghĩa
FBình Thuận|11.1000|108.0500|51|Phan Thiết;FBình Phước|11.7500|106.9000|48|Đồng Xoài
FLong An|10.7500|106.1500|38|Tân An;FBình Dương|11.2000|106.6500|30|Thủ Dầu Một
FBà Rịa - Vũng Tàu|10.4500|107.2500|26|Bà Rịa,Vũng Tàu;FTiền Giang|10.4000|106.3000|28|Mỹ Tho
FKiên Giang|10.1000|104.9500|45|Rạch Giá;FBến Tre|10.1500|106.4500|27;FTrà Vinh|9.8000|106.3000|26
FSóc Trăng|9.5500|105.9500|32;FHậu Giang|9.8000|105.6500|23|Vị Thanh;FBạc Liêu|9.3000|105.5000|28
TThành phố Hồ Chí Minh|10.7769|106.7009|29;THà Nội|21.0245|105.8412|19;TĐà Nẵng|16.0678|108.2208|14
THải Phòng|20.8648|106.6834|12;TBiên Hòa|10.9447|106.8243|10;THuế|16.4619|107.5955|8;TNha Trang|12.2451|109.1943|8
TCần Thơ|10.0371|105.7883|8;TRạch Giá|10.0124|105.0809|8;TQuy Nhơn|13.7765|109.2237|7;TĐà Lạt|11.9465|108.4419|7
TNam Định|20.4339|106.1773|7;TVinh|18.6734|105.6923|6;TPhan Thiết|10.9289|108.1021|6;TLong Xuyên|10.3864|105.4352|6
THạ Long|20.9505|107.0734|6;TBuôn Ma Thuột|12.6675|108.0378|6;TThái Nguyên|21.5942|105.8482|6
TMỹ Tho|10.3600|106.3600|6;TPhú Mỹ|10.5681|107.1300|7;TSóc Trăng|9.5999|105.9719|5;TPleiku|13.9833|108.0000|5
TThanh Hóa|19.8000|105.7667|5;TCà Mau|9.1768|105.1524|5;TVũng Tàu|10.3460|107.0843|7;TBạc Liêu|9.2941|105.7278|5
THòa Bình|20.8172|105.3376|5;TSa Đéc|10.2909|105.7563|7;TVĩnh Long|10.2537|105.9722|5;TYên Bái|21.7229|104.9113|5
TViệt Trì|21.3227|105.4020|5;TPhan Rang-Tháp Chàm|11.5643|108.9886|5;TThủ Dầu Một|10.9804|106.6519|5
TTuy Hòa|13.0955|109.3209|4;TTân An|10.5359|106.4137|4;TCao Lãnh|10.4602|105.6329|4;TĐức Trọng|11.7356|108.3733|6
TLa Gi|10.6599|107.7721|6;TBến Tre|10.2415|106.3758|4;TTam Kỳ|15.5736|108.4740|4;THải Dương|20.9410|106.3330|4
TTrà Vinh|9.9472|106.3423|4;TLạng Sơn|21.8526|106.7610|4;TBắc Giang|21.2731|106.1946|4;TThái Bình|20.4500|106.3400|4
TCần Giuộc|10.6086|106.6714|6;TBảo Lộc|11.5480|107.8077|6;TKon Tum|14.3545|108.0076|4;TCam Ranh|11.9214|109.1591|6
TBắc Ninh|21.1861|106.0763|4;TCao Bằng|22.6657|106.2579|4;TĐiện Biên Phủ|21.3860|103.0230|4
THưng Yên|20.6464|106.0511|4;TNinh Bình|20.2581|105.9797|4;TLào Cai|22.4856|103.9707|4;TTây Ninh|11.3100|106.0983|4
TTuyên Quang|21.8236|105.2142|4;TCẩm Phả|21.0167|107.3000|6;TQuảng Ngãi|15.1205|108.7923|4
THà Giang|22.8233|104.9836|4;TPhủ Lý|20.5453|105.9122|4;TĐồng Hới|17.4688|106.6223|4;THà Tĩnh|18.3428|105.9057|4
TVị Thanh|9.7845|105.4701|4;TĐồng Xoài|11.5350|106.8832|4;TSơn La|21.3256|103.9188|4;TVĩnh Yên|21.3089|105.6049|4
TBắc Kạn|22.1470|105.8348|4;TĐông Hà|16.8163|107.1003|4;TBà Rịa|10.4963|107.1684|4;TGia Nghĩa|12.0042|107.6907|4
TLai Châu|22.3964|103.4582|4;TSông Cầu|13.4556|109.2235|5;TCủ Chi|10.9733|106.4933|4;TMóng Cái|21.5247|107.9662|4
TChâu Đốc|10.7000|105.1167|4;TUông Bí|21.0343|106.7705|4;TCần Giờ|10.4111|106.9547|4;TBỉm Sơn|20.0781|105.8603|4
THà Đông|20.9714|105.7788|4;TPhú Khương|11.2833|106.1333|3;TSơn Tây|21.1405|105.5069|3;THà Tiên|10.3831|104.4875|3
THội An|15.8794|108.3350|3;TCát Bà|20.7278|107.0482|3;TTân Thành|10.2562|105.5928|2;TĐinh Văn|11.7862|108.2428|2
TBình Long|11.6471|106.6059|2;TDương Đông|10.2172|103.9593|2;TSa Pa|22.3402|103.8441|2;TẤp Tân Ngãi|10.2333|106.2833|2
TPhù Ninh|21.0833|105.9500|2;TLao Chải|22.3138|103.8684|2;TCôn Sơn|8.6864|106.6082|2;TA Lưới|16.2723|107.2339|2
TAn Biên|9.8153|105.0637|2;TAn Châu|21.3346|106.8493|2;TAn Châu|10.4456|105.3862|2;TAn Dương|20.8638|106.6133|2
TAn Hòa|10.2969|105.7443|2;TAn Lão|14.6124|108.8899|2;TAn Lão|20.8229|106.5558|2;TAn Nhơn|13.8858|109.1082|2
TAn Phú|10.8159|105.0904|2;TAnh Sơn|18.9696|105.0550|2;TAyun Pa|13.4002|108.4350|2;TBa Tri|10.0443|106.5902|2
TBa Tơ|14.7636|108.7322|2;TBa Đồn|17.7535|106.4236|2;TBo|20.6726|105.5362|2;TBuôn Trấp|12.4848|108.0298|2
TBác Ái|11.8410|108.9032|2;TBát Xát|22.5431|103.8899|2;TBình Gia|21.9609|106.3645|2;TBình Minh|10.0682|105.8222|2
TBình Mỹ|20.4912|106.0096|2;TBình Sơn|15.2978|108.7612|2;TBình Thạnh|10.8033|106.6967|2;TBình Thủy|10.0743|105.7397|2
TBình Đại|10.1896|106.6915|2;TBích Động|21.2742|106.1007|2;TBù Đốp|11.9549|106.8002|2;TBút Sơn|19.8580|105.8548|2
TBảo Lạc|22.9492|105.6805|2;TBẩn Yên Nhân|20.9365|106.0571|2;TBắc Hà|22.5391|104.2930|2;TBắc Sơn|21.9000|106.3208|2
TBắc Yên|21.2463|104.4328|2;TBằng Lũng|22.1578|105.5956|2;TBến Cầu|11.1105|106.1792|2;TBến Sung|19.6314|105.5781|2
TBồng Sơn|14.4291|109.0156|2;TBộc Bố|22.6121|105.6671|2;TCam Lâm|12.0540|109.1600|2;TCam Lộ|16.8080|106.9941|2
TCao Lộc|21.8665|106.7683|2;TCao Phong|20.7045|105.3206|2;TCao Thượng|21.3871|106.1293|2;TChi Nê|20.4906|105.7780|2
TChiêm Hóa|22.1441|105.2728|2;TChâu Thành|9.8699|106.3494|2;TChâu Thành|11.3117|106.0295|2
TChâu Thành|10.3012|106.3570|2;TChâu Thành|9.7007|105.9020|2;TChí Thạnh|13.3085|109.2152|2
TChùa Hang|21.6238|105.8417|2;TChúc Sơn|20.9237|105.7015|2;TChũ|21.3738|106.5665|2;TChơn Thành|11.4282|106.6354|2
TChư Prông|13.7568|107.8862|2;TChư Sê|13.6915|108.0802|2;TChư Ty|13.8051|107.6961|2;TChờ|21.1949|105.9547|2
TChợ Chu|21.9072|105.6422|2;TChợ Gạo|10.3498|106.4634|2;TChợ Lách|10.2603|106.1189|2;TChợ Lầu|11.2216|108.5071|2
TChợ Mới|21.8837|105.7728|2;TChợ Mới|10.5512|105.4044|2;TCon Cuông|19.0500|104.8812|2;TCung Kiệm|21.1870|106.1608|2
TCành Nàng|20.3480|105.2288|2;TCái Dầu|10.5743|105.2400|2;TCái Nhum|10.1741|106.1105|2;TCái Nước|8.9423|105.0141|2
TCái Răng|10.0009|105.7510|2;TCái Tàu Hạ|10.2597|105.8704|2;TCái Đôi Vàm|8.8571|104.8120|2;TCô Tô|20.9727|107.7658|2
TCù Lao Dung|9.6731|106.1487|2;TCần Đước|10.5097|106.6031|2;TCầu Diễn|21.0393|105.7666|2;TCầu Giát|19.1460|105.6309|2
TCầu Giấy|21.0323|105.8007|2;TCầu Gồ|21.4768|106.1265|2;TCầu Kè|9.8724|106.0550|2;TCẩm Lệ|16.0177|108.2038|2
TCẩm Phả|21.0100|107.2734|2;TCẩm Thủy|20.2087|105.4695|2;TCẩm Xuyên|18.2503|106.0013|2;TCổ Lễ|20.3234|106.2658|2
TCổ Phúc|21.7558|104.8277|2;TCờ Đỏ|10.0938|105.4292|2;TCủng Sơn|13.0500|108.9789|2;TDi Linh|11.5815|108.0764|2
TDiêm Điền|20.5583|106.5688|2;TDiên Khánh|12.2549|109.0933|2;TDiễn Châu|18.9765|105.6003|2
TDuy Xuyên|15.8290|108.2596|2;TDuyên Hải|9.6350|106.4924|2;TDĩ An|10.9068|106.7694|2
TDương Minh Châu|11.3841|106.2308|2;TDầu Tiếng|11.2741|106.3588|2;TEa Drăng|13.2045|108.2103|2
TEa Kar|12.8082|108.4490|2;TEa Súp|13.0662|107.8855|2;TEa T’ling|12.5890|107.8958|2;TGia Bình|21.0594|106.1747|2
TGia Lộc|20.8678|106.3000|2;TGia Ray|10.9261|107.4017|2;TGio Linh|16.9248|107.0844|2;TGiá Rai|9.2379|105.4552|2
TGiồng Riềng|9.9097|105.3143|2;TGiồng Trôm|10.1502|106.5061|2;TGành Hào|9.0318|105.4211|2;TGò Dầu|11.0885|106.2635|2
TGò Quao|9.7332|105.2739|2;TGôi|20.3333|106.0783|2;THai Bà Trưng|21.0134|105.8477|2;THai Riêng|12.9791|108.8973|2
THoài Ân|14.3635|108.9648|2;THoàn Kiếm|21.0286|105.8506|2;THoàn Lão|17.5844|106.5343|2;THoàng Sa|16.6666|112.7254|2
THuỳnh Hữu Nghĩa|9.6354|105.8117|2;THà Lam|15.7387|108.3506|2;THà Trung|20.0129|105.8532|2
THàng Trạm|20.3947|105.6224|2;THát Lót|21.1973|104.1060|2;THòa Bình|19.2639|104.4723|2;THòa Bình|9.2847|105.6292|2
THòa Mạc|20.6417|105.9890|2;THòa Thành|11.2870|106.1294|2;THòa Vang|15.9876|108.1389|2;THòn Đất|10.1846|104.9296|2
THóc Môn|10.8891|106.5953|2;THùng Quốc|22.8290|106.3234|2;THưng Hà|20.5904|106.2245|2;THưng Hóa|21.2549|105.2953|2
THưng Nguyên|18.6716|105.6288|2;THương Canh|21.2788|105.6470|2;THương Khê|18.1767|105.7002|2
THương Sơn|21.4601|105.9781|2;THương Trà|16.5254|107.4755|2;THạ Hòa|21.5630|105.0051|2;THải Lăng|16.6935|107.2512|2
THậu Lộc|19.9144|105.8862|2;THậu Nghĩa|10.8943|106.3970|2;THồ|21.0631|106.0857|2;THồ Xá|17.0684|107.0052|2
THợp Hòa|21.3753|105.5426|2;THữu Lũng|21.5056|106.3446|2;TIa Kha|13.9624|107.8448|2;TIa Pa|13.5336|108.4553|2
TKbang|14.1445|108.5991|2;TKhe Sanh|16.6283|106.7388|2;TKhe Tre|16.1691|107.7179|2;TKhoái Châu|20.8391|105.9775|2
TKhánh Hải|11.5910|109.0405|2;TKhánh Vĩnh|12.2835|108.9047|2;TKhánh Yên|22.0893|104.2515|2
TKhâm Đức|15.4451|107.7934|2;TKim Bài|20.8527|105.7696|2;TKim Sơn|19.6041|104.9190|2;TKim Tân|20.1305|105.6745|2
TKinh Môn|20.9896|106.5551|2;TKiên Lương|10.2862|104.6462|2;TKiến Giang|17.2233|106.7901|2
TKon Dơng|14.0389|108.2501|2;TKrông Klang|16.6891|106.8874|2;TKrông Kmar|12.5045|108.3329|2
TKrông Năng|12.9517|108.3443|2;TKông Chro|13.7753|108.5256|2;TKẻ Sặt|20.9101|106.1477|2;TKế Sách|9.7674|105.9857|2
TKỳ Anh|18.0624|106.2983|2;TKỳ Sơn|20.8867|105.3524|2;TLa Hai|13.3773|109.1081|2;TLai Cách|20.9325|106.2476|2
TLai Vung|10.2870|105.6617|2;TLang Chánh|20.1561|105.2422|2;TLim|21.1439|106.0202|2;TLiên Chiểu|16.0727|108.1582|2
TLiên Hương|11.2276|108.7237|2;TLiên Quan|21.0572|105.5792|2;TLiễu Đề|20.2209|106.1875|2;TLong Hồ|10.1928|106.0123|2
TLong Khánh|10.9266|107.2478|2;TLong Mỹ|9.6814|105.5723|2;TLong Phú|9.6103|106.1188|2;TLong Thành|10.7891|106.9503|2
TLong Điền|10.4856|107.2123|2;TLái Thiêu|10.9051|106.6995|2;TLâm|20.3277|106.0121|2;TLâm Thao|21.3201|105.2916|2
TLý Sơn|15.3720|109.1189|2;TLũng Hồ|22.9848|105.2398|2;TLương Bằng|20.7400|106.0600|2;TLương Sơn|20.8715|105.5257|2
TLạc Dương|12.0040|108.4190|2;TLấp Vò|10.3616|105.5192|2;TLập Thạch|21.4154|105.4608|2;TLắk|12.4109|108.1768|2
TLộc Bình|21.7587|106.9233|2;TLộc Ninh|11.8448|106.5907|2;TLộc Thắng|11.6284|107.8351|2;TMa Lâm|11.0730|108.1300|2
TMa Đa Gui|11.3870|107.5351|2;TMe|20.3470|105.8362|2;TMinh Long|14.9322|108.7033|2;TMinh Lương|9.9025|105.1595|2
TMèo Vạc|23.1641|105.4099|2;TMê Linh|21.1831|105.7204|2;TMù Cang Chải|21.8513|104.0895|2;TMăng Đen|14.6006|108.2909|2
TMường Chiên|21.8424|103.5661|2;TMường Chà|21.7617|103.0978|2;TMường Khương|22.7614|104.1216|2
TMường Khến|20.6144|105.2795|2;TMường Lát|20.5292|104.6014|2;TMường Nhé|22.1924|102.4579|2
TMường Tè|22.3807|102.8201|2;TMường Xén|19.3980|104.1524|2;TMường Ảng|21.5199|103.2229|2;TMỏ Cày|10.1331|106.3352|2
TMộ Đức|14.9551|108.8859|2;TMộc Châu|20.8520|104.6218|2;TMột Ngàn|9.9240|105.6296|2;TMỹ Lộc|20.4411|106.1024|2
TMỹ Phước|10.4771|106.1926|2;TMỹ Thọ|10.4427|105.6951|2;TMỹ Xuyên|9.5601|105.9898|2;TM’Đrăk|12.7462|108.7428|2
TNa Hang|22.3492|105.3824|2;TNa Sầm|22.0564|106.6151|2;TNam Giang|20.3332|106.1775|2;TNam Sách|20.9920|106.3361|2
TNam Đàn|18.6980|105.4988|2;TNeo|21.2005|106.2474|2;TNga Sơn|20.0072|105.9704|2;TNgan Dừa|9.5670|105.4502|2
TNghi Xuân|18.6621|105.7558|2;TNghèn|18.4512|105.7797|2;TNghĩa Hành|15.0457|108.7772|2;TNguyên Bình|22.6500|105.9599|2
TNgã Bảy|9.8137|105.8210|2;TNgã Sáu|9.9230|105.8054|2;TNgô Đồng|20.2830|106.4435|2;TNgũ Hành Sơn|16.0162|108.2533|2
TNgải Giao|10.6471|107.2458|2;TNgọc Hiển|8.6572|105.0602|2;TNgọc Lặc|20.0919|105.3676|2;TNho Quan|20.3228|105.7519|2
TNhà Bàng|10.6250|105.0085|2;TNhà Bè|10.6967|106.7403|2;TNhơn Trạch|10.7229|106.8834|2;TNhư Quỳnh|20.9817|105.9849|2
TNinh Giang|20.7308|106.3979|2;TNinh Hòa|12.4919|109.1249|2;TNàng Mau|9.7513|105.5345|2;TNông Cống|19.6240|105.6494|2
TNúi Sập|10.2648|105.2668|2;TNúi Thành|15.4319|108.6595|2;TNúi Đèo|20.9157|106.6744|2;TNúi Đối|20.7508|106.6689|2
TNăm Căn|8.7590|104.9929|2;TNước Hai|22.7374|106.1522|2;TPhong Châu|21.4068|105.3123|2;TPhong Thổ|22.5443|103.2978|2
TPhong Điền|16.5832|107.3644|2;TPhong Điền|9.9975|105.6673|2;TPhát Diệm|20.0905|106.0832|2;TPhù Cát|14.0032|109.0580|2
TPhù Mỹ|14.1718|109.0489|2;TPhù Yên|21.2633|104.6444|2;TPhùng|21.0890|105.6590|2;TPhú Hòa|14.1000|107.9690|2
TPhú Lộc|9.4284|105.7411|2;TPhú Lộc|16.2803|107.8590|2;TPhú Mỹ|10.5924|105.3557|2;TPhú Mỹ|10.6036|107.0540|2
TPhú Nhuận|10.7948|106.6763|2;TPhú Ninh|15.5547|108.4114|2;TPhú Phong|13.9096|108.9190|2;TPhú Quý|10.5166|108.9329|2
TPhú Thái|20.9628|106.5095|2;TPhú Thọ|21.3996|105.2222|2;TPhú Túc|13.1968|108.6904|2;TPhú Vang|16.4391|107.7144|2
TPhú Xuyên|20.7455|105.9136|2;TPhúc Thọ|21.1034|105.5455|2;TPhúc Yên|21.2370|105.7048|2;TPhước An|12.7130|108.3015|2
TPhước Bửu|10.5347|107.4020|2;TPhước Dân|11.5270|108.9300|2;TPhước Long|9.4375|105.4622|2;TPhố Châu|18.5133|105.4241|2
TPhố Lu|22.3192|104.1872|2;TPhố Mới|21.1533|106.1516|2;TPhố Ràng|22.2343|104.4764|2;TPhụng Hiệp|9.7797|105.7338|2
TPhủ Thông|22.2731|105.8794|2;TPlei Kần|14.7050|107.6862|2;TPrao|15.9244|107.6481|2;TPác Miầu|22.8297|105.4933|2
TQuan Hóa|20.3848|105.1002|2;TQuan Sơn|20.2591|104.9452|2;TQuy Đạt|17.8046|105.9704|2;TQuán Hành|18.7793|105.6460|2
TQuán Hàu|17.4044|106.6407|2;TQuán Lào|19.9715|105.6511|2;TQuảng Hà|21.4506|107.7559|2;TQuảng Phú|12.8196|108.0774|2
TQuảng Uyên|22.6950|106.4424|2;TQuảng Xương|19.7295|105.7827|2;TQuảng Yên|20.9421|106.8027|2
TQuận 1|10.7807|106.6994|2;TQuận 10|10.7682|106.6663|2;TQuận 11|10.7638|106.6436|2;TQuận 2|10.7916|106.7495|2
TQuận 3|10.7749|106.6863|2;TQuận 4|10.7668|106.7057|2;TQuận 5|10.7557|106.6675|2;TQuận 6|10.7468|106.6490|2
TQuận 7|10.7118|106.7364|2;TQuận 9|10.8397|106.7709|2;TQuế|20.5806|105.8727|2;TQuế Sơn|15.6736|108.2201|2
TQuốc Oai|20.9902|105.6409|2;TQuỳ Châu|19.5521|105.0939|2;TQuỳ Hợp|19.3255|105.1825|2;TQuỳnh Côi|20.6619|106.3274|2
TRừng Thông|19.8191|105.7328|2;TSa Rài|10.8702|105.4658|2;TSa Thầy|14.4138|107.7934|2;TSi Ma Cai|22.6951|104.2786|2
TSìn Hồ|22.3665|103.2344|2;TSóc Sơn|21.2578|105.8489|2;TSông Mã|21.0509|103.7499|2;TSông Thao|21.4213|105.1337|2
TSơn Dương|21.6968|105.3990|2;TSơn Hà|15.0419|108.4697|2;TSơn Thịnh|21.5625|104.5948|2;TSơn Trà|16.0607|108.2326|2
TSơn Tịnh|15.1586|108.7958|2;TSịa|16.5745|107.5107|2;TTam Bình|10.0481|106.0002|2;TTam Sơn|23.0674|104.9893|2
TTam Điệp|20.1563|105.9174|2;TTam Đường|22.3181|103.6262|2;TThan Uyên|21.9591|103.8800|2;TThanh Ba|21.4988|105.1410|2
TThanh Bình|10.5619|105.4841|2;TThanh Chương|18.7788|105.3336|2;TThanh Hà|20.8982|106.4261|2
TThanh Khê|16.0706|108.1910|2;TThanh Lưu|20.4740|105.9527|2;TThanh Miện|20.7871|106.2462|2
TThanh Nhật|22.6875|106.6700|2;TThanh Nê|20.3881|106.4383|2;TThanh Sơn|21.1987|105.1789|2
TThanh Thủy|21.1755|105.2839|2;TThanh Xuân|20.9947|105.7998|2;TThiên Tồn|20.2991|105.9520|2
TThuận Châu|21.4385|103.6900|2;TThuận Nam|10.8500|107.8786|2;TThông Nông|22.7841|105.9832|2
TThường Tín|20.8687|105.8612|2;TThường Xuân|19.9029|105.3472|2;TThạch Hà|18.3679|105.8612|2
TThạnh Hóa|10.6574|106.1808|2;TThạnh Mỹ|15.7489|107.8368|2;TThạnh Mỹ|11.7616|108.4947|2;TThạnh Phú|9.9483|106.5163|2
TThất Khê|22.2553|106.4736|2;TThắng|21.3550|105.9834|2;TThọ Xuân|19.9313|105.5218|2;TThống Nhất|10.9505|107.1457|2
TThốt Nốt|10.2721|105.5338|2;TThới Bình|9.3558|105.0993|2;TThới Lai|10.0652|105.5586|2;TThủ Thừa|10.6023|106.4021|2
TThủ Đức|10.8486|106.7721|2;TThứ Mười Một|9.6114|104.9465|2;TThứa|21.0194|106.2004|2;TTiên Lãng|20.7246|106.5539|2
TTiên Phước|15.4882|108.3074|2;TTiền Hải|20.4056|106.5036|2;TTiểu Cần|9.8117|106.1907|2;TTri Tôn|10.4202|105.0007|2
TTriệu Sơn|19.8191|105.6039|2;TTrà Bồng|15.2557|108.5172|2;TTrà Cú|9.6977|106.2583|2;TTrà My|15.3397|108.2207|2
TTrà Ôn|9.9626|105.9217|2;TTràm Chim|10.6700|105.5647|2;TTrâu Quỳ|21.0195|105.9369|2;TTrôi|21.0695|105.7065|2
TTrùng Khánh|22.8351|106.5250|2;TTrạm Tấu|21.4666|104.3797|2;TTrảng Bom|10.9536|107.0059|2
TTrảng Bàng|11.0299|106.3575|2;TTrần Cao|20.7295|106.1797|2;TTrần Văn Thời|9.0771|104.9791|2;TTrới|21.0314|106.9910|2
TTuy Phước|13.8274|109.1665|2;TTuần Giáo|21.5899|103.4218|2;TTà Lùng|22.4979|106.5669|2;TTánh Linh|11.0842|107.6809|2
TTân Biên|11.5444|106.0116|2;TTân Châu|10.7983|105.2389|2;TTân Châu|11.5520|106.1724|2;TTân Hiệp|10.4490|106.3439|2
TTân Hiệp|10.1171|105.2858|2;TTân Hòa|10.3191|106.7113|2;TTân Hưng|10.8348|105.6613|2;TTân Kỳ|19.0476|105.2681|2
TTân Phú|11.2722|107.4365|2;TTân Phú|11.4512|106.8681|2;TTân Phú|10.7838|106.6370|2;TTân Sơn|11.7752|108.7848|2
TTân Thạnh|10.6067|106.0471|2;TTân Trụ|10.5127|106.5076|2;TTân Túc|10.6954|106.5913|2;TTân Việt|22.8641|105.4591|2
TTân Yên|22.0655|105.0345|2;TTây Hồ|21.0690|105.8105|2;TTây Trà|15.1695|108.3600|2;TTây Đằng|21.1981|105.4222|2
TTô Hạp|12.0058|108.9487|2;TTĩnh Gia|19.4464|105.7786|2;TTư Nghĩa|15.0845|108.8260|2;TTầm Vu|10.4411|106.4679|2
TTủa Chùa|21.8577|103.3426|2;TTứ Kỳ|20.8191|106.4066|2;TU Minh|9.4129|104.9735|2;TUyên Hưng|11.0842|106.7883|2
TVinh Quang|22.7408|104.6796|2;TViệt Lâm|22.6249|104.9599|2;TViệt Quang|22.4151|104.8068|2
TVân Canh|13.6195|108.9981|2;TVân Tùng|22.4308|105.9969|2;TVân Đình|20.7351|105.7724|2;TVõ Xu|11.1869|107.5602|2
TVăn Giang|20.9430|105.9312|2;TVăn Quan|21.8652|106.5392|2;TVăn Điển|20.9463|105.8450|2;TVĩnh An|11.0890|107.0352|2
TVĩnh Bình|10.3450|106.5806|2;TVĩnh Châu|9.3244|105.9801|2;TVĩnh Hưng|10.8907|105.7849|2;TVĩnh Lộc|20.0544|105.6157|2
TVĩnh Lộc|22.1436|105.2719|2;TVĩnh Thuận|9.5080|105.2575|2;TVĩnh Thạnh|14.1088|108.7838|2
TVĩnh Thạnh|10.2226|105.3984|2;TVĩnh Trụ|20.5602|106.0281|2;TVĩnh Tuy|22.2744|104.8909|2
TVĩnh Tường|21.2165|105.5125|2;TVĩnh Điện|15.8885|108.2545|2;TVũ Quang|18.3838|105.5059|2;TVũ Thư|20.4367|106.2912|2
TVũng Liêm|10.0958|106.1855|2;TVương|20.7011|106.1175|2;TVạn Giã|12.6920|109.2207|2;TVạn Hà|19.8866|105.6788|2
TVị Xuyên|22.6676|104.9819|2;TVụ Bản|20.4642|105.4435|2;TXuân Hoà|22.9024|106.0774|2;TXuân Trường|20.2923|106.3328|2
TYên Bình|22.4099|104.5795|2;TYên Châu|21.0458|104.3010|2;TYên Cát|19.6633|105.4285|2;TYên Lạc|21.2365|105.5730|2
TYên Lập|21.3470|105.0574|2;TYên Minh|23.1179|105.1416|2;TYên Mỹ|20.8856|106.0356|2;TYên Ninh|20.1840|106.0612|2
TYên Phú|22.7322|105.3714|2;TYên Thành|18.9986|105.4712|2;TYên Thế|22.1107|104.7675|2;TYên Thịnh|20.1624|106.0070|2
TYên Vinh|18.6667|105.6667|2;TYên Định|20.2015|106.2958|2;TYến Lạc|22.2369|106.1815|2;TÁi Tử|16.7689|107.1650|2
TÂn Thi|20.8183|106.0912|2;TÍt Ong|21.5175|104.0270|2;TÔ Môn|10.1097|105.6232|2;TĐiện Biên|21.2596|103.0344|2
TĐiện Biên Đông|21.2967|103.2201|2;TĐoan Hùng|21.6225|105.1846|2;TĐu|21.7385|105.7039|2;TĐà Bắc|20.8771|105.2542|2
TĐình Lập|21.5463|107.0981|2;TĐông Anh|21.1396|105.8493|2;TĐông Hưng|20.5565|106.3553|2;TĐông Khê|22.4294|106.4319|2
TĐông Thành|10.8922|106.3061|2;TĐăk Đoa|13.9950|108.1121|2;TĐạ Tẻh|11.5115|107.4909|2;TĐại Lộc|15.8821|108.1209|2
TĐại Nghĩa|20.6867|105.7447|2;TĐất Đỏ|10.4909|107.2701|2;TĐầm Dơi|8.9921|105.1960|2;TĐắk Glei|15.0864|107.7358|2
TĐắk Hà|14.5135|107.9210|2;TĐắk Mil|12.4496|107.6224|2;TĐắk Mâm|12.4579|107.8625|2;TĐắk Rve|14.5072|108.2473|2
TĐắk Song|12.2552|107.6092|2;TĐắk Tô|14.6609|107.8389|2;TĐống Đa|21.0201|105.8310|2;TĐồi Ngô|21.3063|106.3867|2
TĐồng Lê|17.8839|106.0254|2;TĐồng Mỏ|21.6570|106.5783|2;TĐồng Nai|11.5798|107.3652|2;TĐồng Văn|23.2784|105.3629|2
TĐức Phong|11.8135|107.2443|2;TĐức Phổ|14.8135|108.9593|2;TĐức Thọ|18.5396|105.5830|2;LHồ Hoàn Kiếm|21.0288|105.8525|1
LLăng Chủ tịch Hồ Chí Minh|21.0368|105.8346|1;LBa Đình|21.0360|105.8335|1;LMỹ Đình|21.0205|105.7639|1
LBa Vì|21.0700|105.3600|1;LLũng Cú|23.3644|105.3191|1;LPhong Nha|17.5887|106.2844|1;LMũi Né|10.9410|108.2793|1
LVăn Miếu - Quốc Tử Giám|21.0287|105.8356|1;LNhà hát Lớn Hà Nội|21.0243|105.8576|1;LGa Hà Nội|21.0245|105.8412|1
LHồ Tây|21.0583|105.8208|1;LCầu Long Biên|21.0437|105.8590|1;LSân bay Nội Bài|21.2187|105.8042|1
LVịnh Hạ Long|20.9100|107.1840|1;LCát Bà|20.7270|107.0480|1;LTràng An|20.2517|105.9183|1;LFansipan|22.3033|103.7750|1
LThác Bản Giốc|22.8537|106.7222|1;LĐại Nội Huế|16.4698|107.5786|1;LCầu Rồng|16.0611|108.2278|1
LSân bay Đà Nẵng|16.0439|108.1994|1;LBà Nà|15.9953|107.9965|1;LPhố cổ Hội An|15.8774|108.3290|1
LThánh địa Mỹ Sơn|15.7634|108.1241|1;LLý Sơn|15.3800|109.1170|1;LTháp Bà Ponagar|12.2654|109.1954|1
LSân bay Cam Ranh|11.9982|109.2194|1;LHồ Xuân Hương|11.9416|108.4440|1;LChợ Bến Thành|10.7725|106.6980|1
LNhà thờ Đức Bà|10.7798|106.6990|1;LDinh Độc Lập|10.7770|106.6953|1;LPhố đi bộ Nguyễn Huệ|10.7741|106.7037|1
LLandmark 81|10.7950|106.7220|1;LGa Sài Gòn|10.7824|106.6773|1;LSân bay Tân Sơn Nhất|10.8188|106.6520|1
LBến Ninh Kiều|10.0333|105.7884|1;LMũi Cà Mau|8.6030|104.7220|1;LĐảo Phú Quốc|10.2270|103.9630|1
LCôn Đảo|8.6825|106.6070|1;LQuần đảo Hoàng Sa|16.5350|111.6080|1;LQuần đảo Trường Sa|8.6436|111.9200|1
`;

/** The line to show where many names of towns are shown. */
export const TOWNS_NOTICE = 'Towns: © GeoNames, CC BY 4.0';

export type PlaceKind = 'province' | 'former_province' | 'town' | 'landmark';

/** A name of the list. */
export interface NamedPlace {
  /** As it is written in Vietnamese. */
  name: string;
  kind: PlaceKind;
  /** Its middle, degrees. */
  lat: number;
  lng: number;
  /** About half its width, metres. */
  radius_m: number;
  /** Province of the middle: a code of ADMIN_UNITS. */
  admin_code: string;
  /** From `near` to the middle, metres; absent without `near`. */
  distance_m?: number;
}

export interface FindPlacesOptions {
  /** A position in degrees: near and large places come first. */
  near?: Position;
  /** Names at most, 1 to 100; default 10. */
  limit?: number;
}

/** One of eight points of the compass. */
export type CompassPoint = 'N' | 'NE' | 'E' | 'SE' | 'S' | 'SW' | 'W' | 'NW';

/** Where a position is, seen from the nearest town. */
export interface PlaceNear {
  /** Name of the town. */
  name: string;
  /** From the middle of the town to the position, metres. */
  distance_m: number;
  /** The direction in which the position lies from there. */
  direction: CompassPoint;
}

/** The part of a loaded library that is needed here. */
interface Provinces {
  adminCodeOf(lat: number, lng: number): string | null;
}

interface Entry {
  readonly name: string;
  readonly kind: PlaceKind;
  readonly lat: number;
  readonly lng: number;
  readonly radius_m: number;
  /** The name without accents, blanks and words like "tỉnh"; others that people use. */
  readonly keys: readonly string[];
  /** Keys of which the beginning finds nothing. */
  readonly wholeKeys: readonly string[];
  /** Names of the towns to which the name of a province leads, the first one first; empty for other kinds. */
  readonly seats: readonly string[];
  /** The name with its accents, as it is compared first. */
  readonly exact: string;
}

const KINDS: Readonly<Record<string, PlaceKind>> = {
  P: 'province',
  F: 'former_province',
  T: 'town',
  L: 'landmark',
};
/** Other names and spellings of today, by the name in the list, as keys. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  'TP. Hồ Chí Minh': ['saigon', 'hcmc', 'tphcm', 'tphochiminh'],
  'Thành phố Hồ Chí Minh': ['saigon', 'hcmc', 'tphcm', 'tphochiminh'],
  Huế: ['thuathienhue', 'thuathien'],
  'Đắk Lắk': ['daclac', 'dakclak', 'darlac'],
  'Đắk Nông': ['dacnong'],
  'Buôn Ma Thuột': ['buonmethuot', 'banmathuot', 'banmethuot'],
  Pleiku: ['playku', 'plaiku', 'playcu', 'pleicu'],
  'Kon Tum': ['congtum', 'contum'],
  'Đà Nẵng': ['tourane'],
  'Hội An': ['faifo'],
  'Đảo Phú Quốc': ['phuquoc'],
  'Hồ Hoàn Kiếm': ['hoguom', 'hoankiemlake'],
  'Lăng Chủ tịch Hồ Chí Minh': ['langbac', 'langbacho', 'langhochiminh'],
  'Đại Nội Huế': ['dainoi', 'hoangthanhhue'],
  'Phố cổ Hội An': ['phocohoian'],
  'Quần đảo Hoàng Sa': ['hoangsa', 'paracel', 'paracelislands'],
  'Quần đảo Trường Sa': ['truongsa', 'spratly', 'spratlyislands'],
};
/** Short forms of towns, and provinces that were merged or divided before 2025: found as a whole only. */
const WHOLE_ALIASES: Readonly<Record<string, readonly string[]>> = {
  'Thành phố Hồ Chí Minh': ['sg', 'giadinh'],
  Huế: ['tth', 'binhtrithien'],
  'Đà Nẵng': ['dn', 'quangnamdanang'],
  'Buôn Ma Thuột': ['bmt'],
  'Bà Rịa - Vũng Tàu': ['brvt'],
  'Hà Đông': ['hatay', 'hasonbinh'],
  'Nam Định': ['hanamninh', 'namha'],
  'Hải Dương': ['haihung'],
  'Việt Trì': ['vinhphu'],
  'Bắc Giang': ['habac'],
  'Thái Nguyên': ['bacthai'],
  'Tuyên Quang': ['hatuyen'],
  'Yên Bái': ['hoanglienson'],
  'Cao Bằng': ['caolang'],
  Vinh: ['nghetinh'],
  'Quy Nhơn': ['nghiabinh'],
  'Nha Trang': ['phukhanh'],
  'Phan Thiết': ['thuanhai'],
  Pleiku: ['gialaikontum'],
  'Thủ Dầu Một': ['songbe'],
  'Vĩnh Long': ['cuulong'],
  'Cà Mau': ['minhhai'],
};
/** Keys of the country, which is not a place of the list. */
const COUNTRY = new Set([
  'vietnam',
  'nuocvietnam',
  'vn',
  'vnm',
  'chxhcnvietnam',
  'conghoaxahoichunghiavietnam',
  'socialistrepublicofvietnam',
]);
/** Words in front of a name that say what it is. */
const TITLES =
  /^(?:(?:thành phố|thanh pho|t\.?p|tỉnh|tinh|thị xã|thi xa|t\.?x|thị trấn|thi tran|t\.?t|huyện|huyen|quận|quan|q(?=\.)|phường|phuong|p(?=\.)|xã|xa|city of|province of)(?=[.\s])\.?\s*)+/iu;
/** Words after a name that say what it is, in English. */
const ENGLISH_TITLES = /(?<=\S)\s+(?:city|province|town)$/iu;
const MAX_UNITS = 100;
const EARTH_M = 6_371_008.8;
const RAD = Math.PI / 180;
const COMPASS: readonly CompassPoint[] = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'];

/**
 * Places by name, in any case, with or without diacritics, with or without "tp.", "tỉnh", "phường" in front, and while
 * the name is still being typed.
 *
 * Order: whole names before beginnings, these before words inside names, these before names with one wrong letter; with
 * the diacritics of the text before others; provinces whose whole name it is before other places; then with `near` by
 * distance in relation to size, without it by size. The middle of a province is a point in its fields or mountains: its
 * seat comes before it, whatever the limit. The country itself is not a place of the list, and finds nothing.
 *
 * @param hexcodes a loaded library
 * @param text of 100 UTF-16 units at most; longer ones find nothing
 * @throws HexcodesError BAD_ARGUMENT for options that are not an object, an option of another name, or a limit that is
 * not a whole number from 1 to 100; NOT_A_COORDINATE for a `near` that is not a position
 */
export function findPlaces(hexcodes: Provinces, text: string, options: FindPlacesOptions = {}): NamedPlace[] {
  if (typeof options !== 'object' || options === null)
    throw new HexcodesError('BAD_ARGUMENT', 'The third argument of findPlaces is an object: { near, limit }');
  requireKnown(options, ['near', 'limit'], 'findPlaces');
  const near = options.near === undefined ? undefined : latLngOf(options.near);
  const { limit = 10 } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new HexcodesError('BAD_ARGUMENT', `limit ${limit}: must be a whole number from 1 to 100`);
  if (text.length > MAX_UNITS) return [];
  const exact = exactOf(text);
  const key = keyOf(text);
  if (key === '' || COUNTRY.has(key)) return [];
  const found = entries().flatMap((entry) => {
    const rank = rankOf(entry, key);
    if (rank === undefined) return [];
    const distance = near === undefined ? undefined : metresBetween(near[0], near[1], entry.lat, entry.lng);
    const isExact = entry.exact.startsWith(exact);
    // Somebody asks for a place as far away as it is known.
    const reach = distance === undefined ? -entry.radius_m : Math.log((distance + 500) / entry.radius_m);
    const isProvince = rank === 0 && entry.seats.length > 0;
    return [{ entry, rank, isExact, isProvince, reach }];
  });
  const best = Math.min(...found.map(({ rank }) => rank));
  const sorted = found
    .filter(({ rank }) => rank < SLIP_RANK || best === SLIP_RANK)
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(b.isExact) - Number(a.isExact) ||
        Number(b.isProvince) - Number(a.isProvince) ||
        a.reach - b.reach,
    )
    .flatMap(({ entry }) => [...seatsOf(entry), entry]);
  return [...new Set(sorted)].slice(0, limit).flatMap(({ name, kind, lat, lng, radius_m }) => {
    const admin_code = hexcodes.adminCodeOf(lat, lng);
    if (admin_code === null) return [];
    const found: NamedPlace = { name, kind, lat, lng, radius_m, admin_code };
    if (near !== undefined) found.distance_m = metresBetween(near[0], near[1], lat, lng);
    return [found];
  });
}

/** Whether a text names the country as a whole: "Việt Nam", "vn", "Nước Việt Nam". */
export const isCountry = (text: string): boolean => text.length <= MAX_UNITS && COUNTRY.has(keyOf(text));

/** The towns to which the name of a province leads; none for other kinds. */
function seatsOf({ seats }: Entry): readonly Entry[] {
  return seats.flatMap((seat) => entries().find(({ kind, name }) => kind === 'town' && name === seat) ?? []);
}

/**
 * The town that people would name for a position: the nearest, where a larger one may be farther away.
 * @param lat degrees
 * @param lng degrees
 * @returns null where no town is within 100 km
 */
export function placeNear(lat: number, lng: number): PlaceNear | null {
  let best: Entry | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const entry of entries()) {
    if (entry.kind !== 'town') continue;
    const distance = metresBetween(entry.lat, entry.lng, lat, lng);
    if (distance > MAX_NEAR_M) continue;
    const weighed = distance / Math.min(2, 1 + entry.radius_m / 20_000);
    if (weighed >= least) continue;
    least = weighed;
    best = entry;
  }
  if (best === undefined) return null;
  const north = lat - best.lat;
  const east = (lng - best.lng) * Math.cos(lat * RAD);
  const turn = (Math.atan2(east, north) / RAD + 360) % 360;
  return {
    name: best.name,
    distance_m: metresBetween(best.lat, best.lng, lat, lng),
    direction: COMPASS[Math.round(turn / 45) % 8]!,
  };
}

/** All names of the list, the largest first within each kind; for maps. */
export function placeNames(): readonly Pick<NamedPlace, 'name' | 'kind' | 'lat' | 'lng' | 'radius_m'>[] {
  return entries();
}

const MAX_NEAR_M = 100_000;
/** Ranks: 0 the whole name, 1 its beginning, 2 the beginning of a word of it, 3 one letter wrong. */
const SLIP_RANK = 3;
const MIN_SLIP_LETTERS = 5;

function rankOf({ keys, wholeKeys }: Entry, key: string): number | undefined {
  if (keys.includes(key) || wholeKeys.includes(key)) return 0;
  if (key.length < 2) return undefined;
  if (keys.some((each) => each.startsWith(key))) return 1;
  if (key.length >= 3 && keys.some((each) => each.includes(key))) return 2;
  if (key.length >= MIN_SLIP_LETTERS && keys.some((each) => isOneSlip(each, key))) return SLIP_RANK;
  return undefined;
}

let all: readonly Entry[] | undefined;

function entries(): readonly Entry[] {
  all ??= PLACE_LIST.trim()
    .split(/[;\n]/)
    .map((row) => {
      const [named = '', lat, lng, km, seats] = row.split('|');
      const name = named.slice(1);
      const kind = KINDS[named[0]!]!;
      const isProvince = kind === 'province' || kind === 'former_province';
      return {
        name,
        kind,
        lat: Number(lat),
        lng: Number(lng),
        radius_m: Number(km) * 1000,
        keys: [keyOf(name), ...(ALIASES[name] ?? [])],
        wholeKeys:
          kind === 'province'
            ? ADMIN_UNITS.filter((unit) => unit.name === name).map(({ code }) => code.toLowerCase())
            : (WHOLE_ALIASES[name] ?? []),
        seats: isProvince ? (seats?.split(',') ?? [name]) : [],
        exact: exactOf(name),
      };
    });
  return all;
}

/** Lower case with accents, without titles, blanks and signs. */
function exactOf(text: string): string {
  const typed = text.normalize('NFC').toLowerCase().trim();
  const words = typed.replace(TITLES, '').replace(ENGLISH_TITLES, '').trim();
  // The district of a number is nothing without its title.
  const numbered = /^(?:quận|quan|q)?[.\s]*(\d{1,2})$/u.exec(typed);
  const kept = numbered === null ? words : `quận${numbered[1]}`;
  return kept.replace(/[^\p{L}\p{N}]/gu, '');
}

/** A name as it is compared, without accents. */
function keyOf(text: string): string {
  return exactOf(text).normalize('NFD').replace(/\p{M}/gu, '').replaceAll('đ', 'd');
}

function metresBetween(latA: number, lngA: number, latB: number, lngB: number): number {
  const north = Math.sin(((latB - latA) * RAD) / 2);
  const east = Math.sin(((lngB - lngA) * RAD) / 2);
  const part = north ** 2 + Math.cos(latA * RAD) * Math.cos(latB * RAD) * east ** 2;
  return 2 * EARTH_M * Math.asin(Math.sqrt(Math.min(1, part)));
}
