import EventLoopKit

/// A problem with a device that the user should know about. Each is reported once until it is resolved.
package enum ConnectionNotice: Hashable, Sendable {
    /// The device answers only a bonded hub, and it has no bond with this one.
    case needsPairing
    /// The device was bonded and does not accept the bond any more (story 8).
    case bondRefused
    /// The table of services differs from the cached one (story 7).
    case staleCache(CharacteristicName)
    /// The profile expects a characteristic that the device does not have.
    case missing(CharacteristicName)
    /// A characteristic disappeared during this link. Nothing is removed, because the bond belongs to the user.
    case moved(CharacteristicName)
    /// A characteristic could not be enabled, for another reason.
    case notEnabled(CharacteristicName)
    /// The device is connected and enabled, but repeatedly sends nothing.
    case silent
    /// D-Bus denies access.
    case accessDenied
    /// The services are never resolved.
    case notResolved
    /// The device answers slowly, and its measurements wait for the answers.
    case slow
    /// A request was never answered.
    case unanswered(String)

    /// The weight. Most notices need the user to act, but slowness and a lost answer may pass.
    package var weight: SourceNotice.Weight {
        switch self {
        case .slow: .information
        case .unanswered: .warning
        default: .action
        }
    }

    static let accessDeniedText =
        "D-Bus denies access: run `sudo usermod -aG bluetooth $USER`, log in again, and check with `vitalgate doctor`"

    /// The text for users, with the remedy.
    package func text(for address: BluetoothAddress) -> String {
        switch self {
        case .needsPairing:
            "the device requires pairing: put it into pairing mode and run `vitalgate devices pair \(address)`"
        case .bondRefused:
            "the device no longer accepts the bond: on the device, delete this hub or start pairing mode, then run "
                + "`vitalgate devices forget --bond \(address)` and `vitalgate devices pair \(address)`"
        case .staleCache(let name):
            "\(name) is in BlueZ's cache but cannot be enabled, for example after a firmware update: "
                + "run `vitalgate devices forget --bond \(address)` and pair it again, or delete its file in "
                + "/var/lib/bluetooth/*/cache and restart bluetooth"
        case .missing(let name):
            "the device does not have \(name), which its profile reads: if it had it before (for example before a firmware update), run "
                + "`vitalgate devices forget --bond \(address)` and pair it again. If that does not help, delete its file in "
                + "/var/lib/bluetooth/*/cache and restart bluetooth"
        case .moved(let name):
            "the device moved its services, and BlueZ no longer finds \(name): run `vitalgate devices forget --bond \(address)` while it "
                + "is still connected, then pair it again"
        case .notEnabled(let name): "\(name) cannot be enabled"
        case .silent: "connected, but no readings arrive: is it worn, are its contacts wet, is its battery good?"
        case .accessDenied: Self.accessDeniedText
        case .slow:
            "the device responds slowly: its measurements are stored after it has reported its device information and services"
        case .unanswered(let request): "no response to the request for \(request): disconnected, reconnecting shortly"
        case .notResolved: "the device's services are never resolved: it is too far away, or connected to another hub"
        }
    }
}
