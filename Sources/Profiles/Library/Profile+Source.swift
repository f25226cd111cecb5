import HealthModel

extension Profile {
    /// Returns the same profile with another source for its readings, for frames from another origin.
    package func naming(source: (SourceRevision) -> SourceRevision) -> Profile {
        var profile = self
        for index in profile.binaries.indices { profile.binaries[index].source = source(profile.binaries[index].source) }
        return profile
    }
}
