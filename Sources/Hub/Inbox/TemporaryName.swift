/// Names that programs give to a file until it is whole, and names of files that no person put into the inbox.
///
/// One table, by how a name begins or ends. Letters count as their lower case: Windows writes `.TMP`.
package enum TemporaryName {
    /// How names end.
    ///
    /// | ending | writer | source |
    /// |---|---|---|
    /// | `.filepart` | WinSCP | https://winscp.net/eng/docs/resume |
    /// | `.part` | Firefox, KDE, ownCloud and Nextcloud (`.ocTransferId….part`), Transmission | https://github.com/owncloud/core/pull/7514 |
    /// | `.crdownload` | Chromium | https://docs.fileformat.com/web/crdownload/ |
    /// | `.download` | Safari | |
    /// | `.opdownload` | Opera | |
    /// | `.partial` | rclone, Internet Explorer | https://rclone.org/docs/#partial-suffix-string |
    /// | `.tmp`, `.temp` | Syncthing, OneDrive, Office, s3cmd | https://github.com/syncthing/syncthing/blob/main/lib/fs/tempname.go |
    /// | `.ffs_tmp` | FreeFileSync | |
    /// | `.drivepart` | OX Drive | its help, "Name restrictions" |
    /// | `.!sync`, `.bts`, `.syncpart`, `.synctemp` | Resilio Sync | https://gist.github.com/alanljj/b3874d92fa4714be8aa8e050ccb3aabf |
    /// | `.!ut`, `.!qb`, `.aria2` | download managers | https://aria2.github.io/manual/en/html/aria2c.html |
    /// | `.swp`, `~` | editors | |
    private static let endings = [
        ".filepart", ".part", ".crdownload", ".download", ".opdownload", ".partial", ".tmp", ".temp", ".ffs_tmp", ".drivepart",
        ".!sync", ".bts", ".syncpart", ".synctemp", ".!ut", ".!qb", ".aria2", ".swp", "~",
    ]

    /// How names begin.
    ///
    /// | beginning | writer | source |
    /// |---|---|---|
    /// | `.` | rsync (`.NAME.XXXXXX`), Syncthing (`.syncthing.NAME.tmp`), Nextcloud, Dropbox (`.~NAME`), macOS (`._NAME`, `.DS_Store`), GNOME | https://download.samba.org/pub/rsync/rsync.1#opt--temp-dir |
    /// | `~syncthing~` | Syncthing on Windows | https://github.com/syncthing/syncthing/blob/main/lib/fs/tempname.go |
    /// | `~$`, `~wrl` | Office | https://support.microsoft.com/en-us/topic/66b112fb-d2c0-8f40-a0be-70a367cc4c85 |
    private static let beginnings = [".", "~syncthing~", "~$", "~wrl"]

    /// Files that Windows and macOS put into folders.
    private static let names: Set<String> = ["thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r"]

    /// Whether a name is that of a file which is not whole yet, or which no person means to be read.
    static func isOne(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || beginnings.contains { name.hasPrefix($0) } || endings.contains { name.hasSuffix($0) }
            || (name.hasPrefix("#") && name.hasSuffix("#")) || isCyberduckUpload(name)
    }

    /// The name under which a whole file of such a name is read, without what marks it as one that is not whole; `nil` where nothing is left of it,
    /// or is not meant to be read.
    package static func read(as name: String) -> String? {
        var name = name
        while isOne(name) {
            let lower = name.lowercased()
            if names.contains(lower) { return nil }
            if let ending = endings.first(where: { lower.hasSuffix($0) }) {
                name = String(name.dropLast(ending.count))
            } else if let beginning = beginnings.first(where: { lower.hasPrefix($0) }) {
                name = String(name.dropFirst(beginning.count))
            } else if isCyberduckUpload(lower) {
                name = String(name.dropLast(37))
            } else {
                name = String(name.dropFirst().dropLast())
            }
        }
        return name.isEmpty ? nil : name
    }

    /// Cyberduck writes `weight.csv-` and a UUID (`queue.upload.file.temporary.format`, https://github.com/iterate-ch/cyberduck).
    private static func isCyberduckUpload(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: "."), let dash = name[dot...].firstIndex(of: "-") else { return false }
        let rest = name[name.index(after: dash)...]
        let parts = rest.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        return parts == [8, 4, 4, 4, 12] && rest.allSatisfy { $0 == "-" || $0.isHexDigit }
    }
}
