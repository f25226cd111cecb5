/// What two paths have to do with each other: whether both may tell of one device.
public enum DeviceKinship: Hashable, Sendable {
    /// The same device, or devices of the same maker that nothing tells apart.
    case same
    /// One of the two does not say which device it was.
    case unknown
    /// Two devices.
    case other
    /// One of the two was saved by a program, and may be a copy of the other.
    case copy

    /// Compares two origins by the device's key, its serial number and its maker.
    ///
    /// A maker's file mostly names no device, or names it otherwise than the device itself does; so it is the maker that makes a family.
    /// Serial numbers tell two devices of one maker apart.
    public init(_ one: Origin, _ other: Origin) {
        let (first, second) = (one.device, other.device)
        if let first, let second {
            if first.key == second.key && !first.key.isEmpty {
                self = .same
                return
            }
            if let serial = first.serial, let another = second.serial, serial != another {
                self = .other
                return
            }
        }
        switch (DeviceMaker(one), DeviceMaker(other)) {
        case (let maker?, let another?): self = maker == another ? .same : .other
        case (nil, nil) where first != nil && second != nil: self = .other
        default:
            // Where only one side has a maker, a device on the other side is some device, but not one known to be another.
            self = .unknown
        }
    }
}

/// Who made the device that readings come from, as far as device or source tell.
public struct DeviceMaker: Hashable, Sendable {
    /// In lower case, one word.
    public let name: String

    /// The maker by the device's own word, else by a name of the table in what device and source are called; nil where neither tells.
    public init?(_ origin: Origin) {
        if let known = Self.known(in: [origin.device?.manufacturer]) {
            name = known
        } else if let maker = origin.device?.manufacturer.flatMap(Self.words)?.first {
            name = maker
        } else if let known = Self.known(in: [origin.device?.name, origin.device?.model, origin.device?.key])
            ?? Self.known(in: [origin.source.name, origin.source.id])
        {
            name = known
        } else {
            return nil
        }
    }

    /// Makers, and names by which their devices and apps go.
    private static let table: [String: [String]] = [
        "abbott": ["abbott", "freestyle", "libre", "libreview", "librelink"],
        "accuchek": ["roche", "accu-chek", "accuchek", "mysugr"],
        "andonline": ["a&d", "and_ua", "a&d_ua"], "apple": ["apple", "iphone", "ipad"], "ascensia": ["ascensia", "contour"],
        "beurer": ["beurer", "healthmanager"], "dexcom": ["dexcom", "clarity"], "eufy": ["eufy"], "fitbit": ["fitbit"],
        "garmin": ["garmin"], "kinetik": ["kinetik"], "medisana": ["medisana", "vitadock"], "nonin": ["nonin"],
        "omron": ["omron", "blesmart", "blesmart_"], "oura": ["oura"], "polar": ["polar"], "qardio": ["qardio"],
        "renpho": ["renpho"], "samsung": ["samsung"], "suunto": ["suunto"], "tanita": ["tanita"], "wahoo": ["wahoo", "tickr"],
        "whoop": ["whoop"], "withings": ["withings", "nokia"], "xiaomi": ["xiaomi", "mibcs", "mibfs", "zepp", "mifit"],
    ]
    private static let makers: [String: String] = Dictionary(
        table.flatMap { maker, names in names.map { ($0, maker) } }, uniquingKeysWith: { first, _ in first })

    private static func known(in texts: [String?]) -> String? {
        for case let text? in texts {
            for word in words(text) where makers[word] != nil { return makers[word] }
        }
        return nil
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "&" || $0 == "_") && $0 != "-" }
            .flatMap { word in [String(word)] + word.split(separator: "-").map(String.init) }
    }
}
