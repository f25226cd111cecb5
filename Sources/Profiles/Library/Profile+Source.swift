import HealthModel

extension Profile {
    /// The same profile for frames that come from somewhere else: its readings name that as their source.
    public func naming(source: (SourceRevision) -> SourceRevision) -> Profile {
        var profile = self
        for index in profile.binaries.indices { profile.binaries[index].source = source(profile.binaries[index].source) }
        return profile
    }
}
