import FileSource
import Glibc
import HealthModel
import Ingestion

/// Recordings of the frames that a hub received, and of a controller's traffic.
enum CaptureTargets {
    private static let path = "/tmp/vitalgate-fuzz-\(getpid())"
    private static let devices = ["C0:01:02:03:04:01", "00:1B:DC:03:04:02", "A4:C1:38:03:04:03"]

    private static var settings: Replay.Settings {
        Replay.Settings(
            library: Fuzz.library, keys: [:],
            now: { Instant(seconds: 1_795_000_000) },
            zone: { $0 == "UTC" ? TimeZoneRules(fixed: .utc) : nil })
    }

    static func captures(_ input: [UInt8]) {
        write(input)
        defer { unlink(path) }
        guard let reader = try? CaptureReader(path: path) else { return }
        try? Replay(reader: reader, settings: settings).check()
    }

    static func traffic(_ input: [UInt8]) {
        write(input)
        defer { unlink(path) }
        guard let input = try? InputFile(path: path), let file = try? BTSnoopFile(input, path: path),
            let reader = try? TrafficReader(
                file, person: "00000000-0000-4000-8000-000000000000", zone: TimeZoneRules(fixed: .utc)),
            (try? reader.choose(
                [], devices.compactMap { TrafficReader.Named("\($0)=sig-heart-rate,sig-glucose,bthome-v2") }, Fuzz.library))
                != nil
        else { return }
        try? Replay(traffic: reader, settings: settings).check()
    }

    private static func write(_ input: [UInt8]) {
        guard let file = fopen(path, "w") else { return }
        fwrite(input, 1, input.count, file)
        fclose(file)
    }
}
