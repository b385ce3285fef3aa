"""The 34 provinces of Viet Nam since July 2025, in the order of their admin numbers."""

from __future__ import annotations

#: The start of every code of a province, and its name.
PROVINCES = (
    ("TQ", "Tuyên Quang"),
    ("CB", "Cao Bằng"),
    ("LCU", "Lai Châu"),
    ("LCI", "Lào Cai"),
    ("TN", "Thái Nguyên"),
    ("DB", "Điện Biên"),
    ("LS", "Lạng Sơn"),
    ("SL", "Sơn La"),
    ("PT", "Phú Thọ"),
    ("BN", "Bắc Ninh"),
    ("QNH", "Quảng Ninh"),
    ("HN", "Hà Nội"),
    ("HP", "Hải Phòng"),
    ("HY", "Hưng Yên"),
    ("NB", "Ninh Bình"),
    ("TH", "Thanh Hóa"),
    ("NA", "Nghệ An"),
    ("HT", "Hà Tĩnh"),
    ("QT", "Quảng Trị"),
    ("HUE", "Huế"),
    ("DNG", "Đà Nẵng"),
    ("QNG", "Quảng Ngãi"),
    ("GL", "Gia Lai"),
    ("DLK", "Đắk Lắk"),
    ("KH", "Khánh Hòa"),
    ("LD", "Lâm Đồng"),
    ("DN", "Đồng Nai"),
    ("TNH", "Tây Ninh"),
    ("HCM", "TP. Hồ Chí Minh"),
    ("DT", "Đồng Tháp"),
    ("AG", "An Giang"),
    ("VL", "Vĩnh Long"),
    ("CT", "Cần Thơ"),
    ("CM", "Cà Mau"),
)
CODES = [code for code, _ in PROVINCES]
