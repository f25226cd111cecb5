import EventLoopKit

/// A problem with a device that the user should know about. Each is reported once until it is resolved.
public enum ConnectionNotice: Hashable, Sendable {
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
    public var weight: SourceNotice.Weight {
        switch self {
        case .slow: .information
        case .unanswered: .warning
        default: .action
        }
    }

    static let accessDeniedText = "D-Bus denies it: `sudo usermod -aG bluetooth $USER` and log in again; see `vitalgate doctor`"

    /// The text for users, with the remedy.
    public func text(for address: BluetoothAddress) -> String {
        switch self {
        case .needsPairing:
            "it wants a bond: put it into pairing mode and run `vitalgate devices pair \(address)`"
        case .bondRefused:
            "it no longer accepts the bond; on the device, delete this hub or start pairing mode, then "
                + "`vitalgate devices forget --bond \(address)` and `vitalgate devices pair \(address)`"
        case .staleCache(let name):
            "\(name) is in BlueZ's cached table but cannot be enabled, as after a firmware update: "
                + "`vitalgate devices forget --bond \(address)` and pair again, or delete its file in /var/lib/bluetooth/*/cache and restart bluetooth"
        case .missing(let name):
            "it has no \(name), which its profile reads; if it had it before, as before a firmware update: "
                + "`vitalgate devices forget --bond \(address)` and pair it again; if that does not help, delete its file in "
                + "/var/lib/bluetooth/*/cache and restart bluetooth"
        case .moved(let name):
            "it has moved its services, and BlueZ does not find \(name) any more: `vitalgate devices forget --bond \(address)` while it is "
                + "connected, then pair it again; the hub does not hang up, because forgetting it helps less after that"
        case .notEnabled(let name): "\(name) cannot be enabled"
        case .silent: "connected, but nothing comes: is it worn, are its contacts wet, is its battery good?"
        case .accessDenied: Self.accessDeniedText
        case .slow: "it answers slowly: it is still being asked what it is and has; its measurements are taken in after that"
        case .unanswered(let what): "no answer to the question for \(what); hung up, and called again a little later"
        case .notResolved: "its services are never resolved: too far away, or another hub holds the connection"
        }
    }
}
