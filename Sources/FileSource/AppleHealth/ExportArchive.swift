import HealthModel
import Pipeline

/// The ZIP archive of an export: finds the export and the files that belong to it.
struct ExportArchive {
    struct Index {
        /// The names of the members that may belong to the export.
        var files = ExportFiles.Folder.none
        /// The folder of the export, including the slash.
        var folder: [UInt8] = []
        /// Whether there are routes, electrocardiograms or clinical records.
        var hasOthers = false
        /// The numbers of files that do not belong to an export, by their name's suffix.
        var passed: [String: Int] = [:]

        /// Counts a file that is not read.
        mutating func pass(_ member: ZipArchive.Member) {
            guard member.name.last != UInt8(ascii: "/"), passed.count < SkipNames.maximum else { return }
            passed["file" + (member.suffix.isEmpty ? "" : "." + member.suffix), default: 0] += 1
        }
    }

    /// The kind of a member, by its name.
    enum Kind {
        case route, electrocardiogram, resource

        init?(_ member: ZipArchive.Member) {
            switch member.suffix {
            case "gpx": self = .route
            case "csv": self = .electrocardiogram
            case "json": self = .resource
            default: return nil
            }
        }
    }

    /// The maximum number of XML members to examine. An export has two, and the DTD of each is read.
    private static let maximumCandidates = 64
    /// The maximum number of routes, electrocardiograms and clinical records, twice as many as an export may name.
    static let maximumOthers = 2 * ExportFiles.maximumFiles

    private let directory: ZipDirectory
    private let limits: ZipArchive.Limits
    private let meter: ReadMeter?

    init(_ file: InputFile, limits: ZipArchive.Limits, meter: ReadMeter?) throws(SourceError) {
        directory = try ZipDirectory(file, limit: limits.directory)
        (self.limits, self.meter) = (limits, meter)
    }

    /// Unpacks everything once before it is read, because a checksum is only verified after the last byte. Before that, a member cannot
    /// be trusted (Decisions/0014).
    func check() throws -> Index {
        var index = Index()
        var members: Set<UInt64> = []
        var isChecked = false
        var isNamed = true
        /// The export's folder, derived from its files. It is used if the export's own name matches no locale.
        var folder: [UInt8]?
        let unpacked = UnpackedCount()
        let archive = ZipArchive(directory, limits: limits, unpacked: unpacked)
        let otherHalf = ArchiveCheck(directory, limits, unpacked)
        defer { otherHalf.cancel() }
        try forEachMember(of: archive) { member, input, root in
            if root != nil {
                if !isChecked {
                    try archive.drain()
                    if member.isNameReadable { index.folder = ExportFiles.folder(of: member.name) }
                    isNamed = member.isNameReadable
                }
                isChecked = true
            } else if Kind(member) != nil {
                if otherHalf.isNextOurs() { try archive.drain() }
                index.hasOthers = true
                folder = folder ?? Self.folder(around: member.name)
                members.insert(StableHash.hash(member.name))
                guard members.count <= Self.maximumOthers else {
                    throw SourceError(
                        .malformed,
                        "the ZIP archive contains more than \(Self.maximumOthers) routes, electrocardiograms and records"
                    )
                }
            } else {
                index.pass(member)
            }
        }
        try otherHalf.wait()
        if !isNamed { index.folder = folder ?? [] }
        // The names as the export writes them.
        index.files = .archive(folder: index.folder, members: try names(of: members, in: index.folder))
        return index
    }

    /// Returns the path before the known folders of an export, whose names do not depend on the language.
    private static func folder(around name: [UInt8]) -> [UInt8]? {
        for own in ["workout-routes/", "electrocardiograms/", "clinical-records/"] {
            let mark = Array(own.utf8)
            guard name.count > mark.count else { continue }
            for start in 0...(name.count - mark.count) where start == 0 || name[start - 1] == UInt8(ascii: "/") {
                if name[start...].starts(with: mark) { return Array(name[..<start]) }
            }
        }
        return nil
    }

    /// Returns the hashes of the names relative to the export's folder. That folder is only known after all members were seen.
    private func names(of members: Set<UInt64>, in folder: [UInt8]) throws(SourceError) -> Set<UInt64> {
        guard !members.isEmpty, !folder.isEmpty else { return members }
        var names: Set<UInt64> = []
        let archive = ZipArchive(directory, limits: limits, isChecked: true)
        while let member = try archive.nextMember() {
            guard Kind(member) != nil else { continue }
            names.insert(ExportFiles.key(ofMember: member.name, in: folder).withUnsafeBytes { StableHash.hash($0) })
        }
        return names
    }

    /// Passes the export to `body`, with the position of its root element.
    func readExport(_ body: (PrefixedInput, _ offset: Int, _ line: Int) throws -> Void) throws {
        var isRead = false
        try forEachMember(of: ZipArchive(directory, limits: limits, meter: meter, isChecked: true)) { _, input, root in
            guard let root else { return }
            guard !isRead else { throw SourceError(.malformed, "the ZIP archive contains a second export, which was not read") }
            isRead = true
            try body(input, root.offset, root.line)
        }
    }

    struct Other {
        enum Content {
            case route(any RowInput)
            case electrocardiogram(any ByteInput)
            case resource(any ByteInput)
        }

        /// The name as the export writes it.
        var key: [UInt8]
        var content: Content
    }

    /// Passes routes, electrocardiograms and clinical records to `body`, in the order of the archive.
    func readOthers(_ index: Index, _ body: (Other) throws -> Void) throws {
        let stream = MemberStream(ZipArchive(directory, limits: limits, isChecked: true)) { member in
            switch Kind(member) {
            case .route: .rows(GPXFile.forEachBlock)
            case .electrocardiogram, .resource: .bytes
            case nil: nil
            }
        }
        try stream.forEachMember { member, content in
            let key = ExportFiles.key(ofMember: member.name, in: index.folder)
            switch (Kind(member), content) {
            case (.route, .rows(let rows)): try body(Other(key: key, content: .route(rows)))
            case (.electrocardiogram, .bytes(let input)): try body(Other(key: key, content: .electrocardiogram(input)))
            case (.resource, .bytes(let input)): try body(Other(key: key, content: .resource(input)))
            default: break
            }
        }
    }

    private func forEachMember(
        of archive: ZipArchive,
        _ body: (ZipArchive.Member, PrefixedInput, _ root: (offset: Int, line: Int)?) throws -> Void
    ) throws {
        var candidates = 0
        var seen: String?
        var isFound = false
        while let member = try archive.nextMember() {
            let input = PrefixedInput(archive)
            // The name of the file depends on the phone's language, so the content decides.
            guard member.suffix == "xml" || !member.isNameReadable else {
                try body(member, input, nil)
                continue
            }
            candidates += 1
            guard candidates <= Self.maximumCandidates else {
                throw SourceError(.malformed, "the ZIP archive contains more than \(Self.maximumCandidates) XML files")
            }
            let prolog = try ExportProlog.read(input)
            guard case .found(let offset, let line) = prolog else {
                seen = seen ?? prolog.reason
                try body(member, input, nil)
                continue
            }
            isFound = true
            try body(member, input, (offset, line))
        }
        guard !isFound else { return }
        let files = archive.memberCount == 1 ? "1 member" : "\(archive.memberCount) members"
        throw SourceError(
            .malformed,
            "no Apple Health export in the ZIP archive: it has \(files), \(candidates) of them XML"
                + (seen.map { " (the first: \($0))" } ?? ""))
    }
}
