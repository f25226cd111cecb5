import Foundation
import QRCodeKit
import Testing

/// The codes are read again by zbarimg, an independent reader.
@Suite struct QRCodeTests {
    private static let texts = [
        "https://hub.local:8642/page/#code=ABCD-EFGH", "0123456789", "ABC $%*+-./:", "Größe 体温 🌡",
        String(repeating: "x", count: 2331),
    ]

    @Test(arguments: texts) func aReaderReadsTheText(_ text: String) throws {
        let code = try #require(QRCode(text))
        #expect(try read(code) { code.isDark(x: $0, y: $1) } == text)
    }

    /// The terminal's text has the same modules.
    @Test func theTerminalShowsTheCode() throws {
        let code = try #require(QRCode(Self.texts[0]))
        let lines = code.terminalText.split(separator: "\n").map { line in
            Array(line.replacing("\u{1B}[30;107m", with: "").replacing("\u{1B}[0m", with: ""))
        }
        #expect(lines.allSatisfy { $0.count == code.terminalWidth })
        let text = try read(code) { x, y in
            let cell = lines[(y + QRCode.margin) / 2][x + QRCode.margin]
            return cell == "\u{2588}" || cell == ((y + QRCode.margin) % 2 == 0 ? "\u{2580}" : "\u{2584}")
        }
        #expect(text == Self.texts[0])
    }

    @Test func thePathShowsTheCode() throws {
        let code = try #require(QRCode(Self.texts[0]))
        var dark: Set<[Int]> = []
        for run in code.path.split(separator: "z") {
            let numbers = run.split { "Mhv- ".contains($0) }.compactMap { Int($0) }
            for x in numbers[0]..<numbers[0] + numbers[2] { dark.insert([x, numbers[1]]) }
        }
        #expect(try read(code) { dark.contains([$0, $1]) } == Self.texts[0])
    }

    @Test(arguments: [String(repeating: "x", count: 2332), "a\0b"]) func refusesWhatDoesNotFit(_ text: String) {
        #expect(QRCode(text) == nil)
    }

    /// Writes a picture with eight pixels for each module, and lets zbarimg read it.
    private func read(_ code: QRCode, _ isDark: (Int, Int) -> Bool) throws -> String {
        let scale = 8
        let width = code.terminalWidth * scale
        var picture = Data("P5 \(width) \(width) 255\n".utf8)
        for y in 0..<width {
            for x in 0..<width {
                let place = (x / scale - QRCode.margin, y / scale - QRCode.margin)
                let isInside = (0..<code.size).contains(place.0) && (0..<code.size).contains(place.1)
                picture.append(isInside && isDark(place.0, place.1) ? 0 : 255)
            }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("qr-\(UUID().uuidString).pgm")
        try picture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/zbarimg")
        process.arguments = ["--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable", file.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
