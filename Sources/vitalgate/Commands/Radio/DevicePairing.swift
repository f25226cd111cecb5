import BlueZSource
import CommandLineKit
import Glibc
import Hub
import Ingestion
import SystemdKit

/// `devices pair`.
struct DevicePairing {
    let context: CommandContext

    func run() throws -> ExitCode {
        let address = try context.bluetoothAddress()
        let seconds = try context.invocation.integer("--seconds", in: 1...3600) ?? 10
        let radio = try context.radio()
        // Without a terminal, only devices that need no passkey can be paired.
        let dialogue = isatty(STDIN_FILENO) == 1 ? TerminalDialogue(context: context) : nil
        radio.source.dialogue = dialogue
        radio.source.start()
        defer { radio.source.stop() }
        guard radio.waitForAdapter() else { return context.noAdapter() }
        let found: NearbyDevice?? = radio.run(limit: .seconds(seconds + 5)) { done in
            radio.source.find(within: .seconds(seconds)) {
                $0.address == address
            } completion: {
                done($0)
            }
        }
        guard found ?? nil != nil else {
            context.note("vitalgate: \(address) was not found within \(seconds) s: put it into pairing mode and bring it near")
            return .unavailable
        }
        let answer: Result<Void, BusError>? = withExtendedLifetime(dialogue) {
            radio.run(limit: .seconds(160)) { radio.source.pair(address, completion: $0) }
        }
        switch answer {
        case .success:
            context.note("\(address) is paired")
            return .success
        case .failure(let error):
            context.note("vitalgate: \(address) could not be paired: \(error)")
            return error.name == "org.freedesktop.DBus.Error.AccessDenied" ? .noPermission : .unavailable
        case nil:
            context.note("vitalgate: \(address) did not answer in time")
            return .tryAgain
        }
    }
}

/// Asks the user at the terminal.
private final class TerminalDialogue: PairingDialogue {
    private let context: CommandContext
    init(context: CommandContext) { self.context = context }

    func enterPasskey(for address: String, _ answer: @escaping (UInt32?) -> Void) {
        context.note("Enter the number that \(address) shows (empty to cancel):")
        let text = readLine() ?? ""
        answer(UInt32(text.filter { $0 != " " }).flatMap { $0 <= 999_999 ? $0 : nil })
    }

    func showPasskey(_ passkey: UInt32, for address: String) {
        context.note("Type this number on \(address): \(Self.digits(passkey))")
    }

    func confirmPasskey(_ passkey: UInt32, for address: String, _ answer: @escaping (Bool) -> Void) {
        context.note("Does \(address) show \(Self.digits(passkey))? [y/n]")
        answer(["y", "yes"].contains((readLine() ?? "").lowercased()))
    }

    private static func digits(_ passkey: UInt32) -> String {
        let text = String(passkey)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }
}
