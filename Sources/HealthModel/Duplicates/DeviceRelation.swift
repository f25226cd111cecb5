/// The relation of two origins: whether their readings may come from the same device.
public enum DeviceRelation: Hashable, Sendable {
    /// The same device, or devices of the same maker that cannot be distinguished.
    case same
    /// One of the origins does not identify its device.
    case unknown
    /// Two different devices.
    case other
    /// One of the origins is a program that saved samples, which may be copies of the other.
    case copy

    /// Compares two origins by the device's key, its serial number and its maker.
    ///
    /// A maker's file usually does not name its device, or names it differently than the device itself. Devices are therefore matched by
    /// maker. Serial numbers distinguish two devices of one maker, and equal ones identify a device, whatever its names are: a watch's FIT
    /// file has the number of the product, and the TCX file of the maker's site has its name. A serial number is unique for one maker, so
    /// two devices that report different makers are two devices.
    public init(_ one: Origin, _ other: Origin) { self.init(one, other, makers: (DeviceMaker(one), DeviceMaker(other))) }

    /// Compares two origins whose makers are known. To find a maker takes far longer than to compare two.
    package init(_ one: Origin, _ other: Origin, makers: (DeviceMaker?, DeviceMaker?)) {
        let (first, second) = (one.device, other.device)
        if let first, let second {
            if first.key == second.key && !first.key.isEmpty {
                self = .same
                return
            }
            if let serial = first.serial, let another = second.serial {
                self = serial == another && !Self.haveDifferentMakers(one, other, makers) ? .same : .other
                return
            }
        }
        switch makers {
        case (let maker?, let another?): self = maker == another ? .same : .other
        case (nil, nil) where first != nil && second != nil: self = .other
        default:
            // If only one side has a maker, the other side's device may be the same one.
            self = .unknown
        }
    }

    /// Whether both devices report a maker themselves, and the makers differ.
    private static func haveDifferentMakers(
        _ one: Origin, _ other: Origin, _ makers: (DeviceMaker?, DeviceMaker?)
    ) -> Bool {
        guard one.device?.manufacturer != nil, other.device?.manufacturer != nil else { return false }
        return makers.0 != makers.1
    }
}

/// The maker of the device that readings come from, as far as device or source identify it.
public struct DeviceMaker: Hashable, Sendable {
    /// The name as one word in lowercase.
    public let name: String

    /// The maker from the device's own data, or else from a known name in the names of device and source. Returns `nil` if neither
    /// identifies a maker.
    public init?(_ origin: Origin) {
        if let known = Self.known(in: [origin.device?.manufacturer]) {
            name = known
        } else if let maker = origin.device?.manufacturer.flatMap(Self.words)?.first {
            name = maker
        } else if let known = Self.known(in: [origin.device?.name, origin.device?.model, origin.device?.key])
            ?? Self.known(in: [origin.source.name, Self.app(origin.source.id)])
        {
            name = known
        } else {
            return nil
        }
    }

    /// The makers, with the names that their devices and apps use.
    private static let table: [String: [String]] = [
        "abbott": ["abbott", "freestyle", "libre", "libreview", "librelink"],
        "accuchek": ["roche", "accu-chek", "accuchek", "mysugr"],
        "andonline": ["a&d", "and_ua", "a&d_ua"], "apple": ["apple", "iphone", "ipad"], "ascensia": ["ascensia", "contour"],
        "beurer": ["beurer", "healthmanager"], "dexcom": ["dexcom", "clarity"], "eufy": ["eufy"], "fitbit": ["fitbit"],
        // "Connect Api" is the author of Garmin Connect's TCX files.
        "garmin": ["garmin", "connect api"], "kinetik": ["kinetik"], "medisana": ["medisana", "vitadock"], "nonin": ["nonin"],
        "omron": ["omron", "blesmart", "blesmart_"], "oura": ["oura"], "polar": ["polar"], "qardio": ["qardio"],
        "renpho": ["renpho"], "samsung": ["samsung"], "suunto": ["suunto"], "tanita": ["tanita"], "wahoo": ["wahoo", "tickr"],
        "whoop": ["whoop"], "withings": ["withings", "nokia"], "xiaomi": ["xiaomi", "mibcs", "mibfs", "zepp", "mifit"],
    ]
    private static let makers: [String: String] = Dictionary(
        table.flatMap { maker, names in names.map { ($0, maker) } }, uniquingKeysWith: { first, _ in first })

    /// The part of a source's id that names the app. In an Apple Health export, every source's id begins with Apple's name.
    private static func app(_ id: String) -> String {
        id.hasPrefix(SourceRevision.appleHealthPrefix) ? String(id.dropFirst(SourceRevision.appleHealthPrefix.count)) : id
    }

    private static func known(in texts: [String?]) -> String? {
        for case let text? in texts {
            for word in [text.lowercased()] + words(text) where makers[word] != nil { return makers[word] }
        }
        return nil
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "&" || $0 == "_") && $0 != "-" }
            .flatMap { word in [String(word)] + word.split(separator: "-").map(String.init) }
    }
}
