/// The error of this type that the body throws. `nil` if it throws another one or none.
func thrown<Failure: Error>(_ type: Failure.Type, by body: () throws -> Void) -> Failure? {
    do {
        try body()
        return nil
    } catch {
        return error as? Failure
    }
}
