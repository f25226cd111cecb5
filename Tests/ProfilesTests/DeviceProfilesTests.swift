import FileSource
import HealthModel
import Pipeline
import Profiles
import Testing

/// The shipped profiles' directory, found from this file.
let deviceProfiles = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/DeviceProfiles"

func open(_ bytes: [UInt8], _ form: ProfileMatch.Form) -> any FrameSource {
    let received = Instant(seconds: 1_900_000_000)
    switch form {
    case .delimited(let delimiter): return DelimitedFileSource(bytes: bytes, delimiter: delimiter, received: received)
    case .jsonArray(let paths, let rows, let ignored):
        return JSONArrayFileSource(bytes: bytes, paths: paths, rows: rows, ignored: ignored, received: received)
    case .database(let wanted): return DatabaseFileSource(script: bytes, wanted: wanted, received: received)
    }
}

@Suite struct DeviceProfilesTests {
    @Test(arguments: ProfileLibrary.files(in: deviceProfiles))
    func everyProfilePassesVectors(file: String) throws {
        let profile = try ProfileLibrary.check(file: file)
        for failure in ProfileVectorRun(profile, open: open).failures() { Issue.record("\(failure)") }
    }

    @Test func vectorsMatchOneProfile() throws {
        let library = try ProfileLibrary.load(directories: [deviceProfiles])
        #expect(library.profiles.count >= 13)
        for profile in library.profiles {
            // The content of a database is identified by its tables.
            for vector in profile.vectors where profile.database == nil {
                #expect(try library.match(firstLines: vector.text).profile.id == profile.id)
            }
        }
        for channel in library.binaryChannels {
            let matches = library.matches(channel: channel)
            #expect(matches.allSatisfy { $0.channelName == channel } && !matches.isEmpty)
            // Many devices advertise under one number. Their profiles are distinguished by the frames that they can read, or by the
            // device's name.
            guard matches.count > 1 else { continue }
            // The same for a maker's models that send under their own UUID.
            let isOwn = channel.utf8.count > "gatt:2A37".utf8.count
            #expect(channel.hasPrefix("advert:") || channel.hasPrefix("gatt:FF") || isOwn, "\(channel)")
            #expect(throws: ProfileMatchError.severalMatch(ids: matches.map(\.profile.id))) {
                try library.match(channel: channel)
            }
        }
    }

    /// A device with a known name is read by one profile. Without its name it is read by one, or by none until the user chooses.
    @Test func namedDeviceMatchesOneProfile() throws {
        let library = try ProfileLibrary.load(directories: [deviceProfiles])
        for profile in library.profiles {
            for vector in profile.frameVectors where vector.refused == nil && vector.options.isStrict {
                let fitting = library.matches(channel: vector.channel).filter {
                    $0.mayRead(vector.bytes, address: vector.options.secrets.address)
                }.map(\.profile)
                #expect(fitting.contains { $0.id == profile.id })
                let others = fitting.filter { $0.id != profile.id }
                for name in profile.match.names + profile.match.wholeNames {
                    let same = others.filter { $0.match.fits(name: name) }.map(\.id)
                    #expect(same.isEmpty, "\(profile.id) and \(same) read what '\(name)' sends")
                }
                let nameless = ([profile] + others).filter { $0.match.names.isEmpty && $0.match.wholeNames.isEmpty }
                #expect(nameless.count <= 1, "\(vector.channel): \(nameless.map(\.id))")
            }
        }
    }

    /// Every prefix of a vector's last row, after the rows before it, is read, skipped or refused. A truncated row gives a reading only if
    /// just its last cell was cut.
    @Test(arguments: ProfileLibrary.files(in: deviceProfiles))
    func everyPrefixOfARowIsRefusedOrSkipped(file: String) throws {
        let profile = try ProfileLibrary.check(file: file)
        guard !profile.channels.contains("json"), profile.database == nil else { return }
        let run = ProfileVectorRun(profile, open: open)
        for vector in profile.vectors {
            let lines = vector.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            for row in vector.readings.map(\.row).reduce(into: Set<Int>(), { $0.insert($1) }) {
                let head = lines.prefix(row - 1).joined(separator: "\n")
                let line = lines[row - 1]
                let separators = Self.separators(line.utf8)
                for length in 0..<line.utf8.count {
                    let prefix = String(decoding: line.utf8.prefix(length), as: UTF8.self)
                    // A file that is cut before its header matches no profile.
                    guard let outcome = try? run.outcome(of: head + "\n" + prefix, options: vector.options) else { continue }
                    let found = outcome.readings.contains { $0.place.number == row }
                    let cut = Self.separators(prefix.utf8) < separators
                    #expect(!(found && cut), "\(profile.id) row \(row) cut to \(length)")
                }
            }
        }
    }

    /// Delimiters outside quotes.
    private static func separators(_ bytes: some Sequence<UInt8>) -> Int {
        var quoted = false
        var count = 0
        for byte in bytes {
            if byte == UInt8(ascii: "\"") { quoted.toggle() }
            if !quoted, byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") { count += 1 }
        }
        return count
    }
}
