/// Makers and models that a profile reads, as a person knows them, and how far that is proven.
public struct ProfileDevice: Hashable, Sendable {
    /// What a model is, for the table's order.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case scale, cuff, oximeter, glucoseMeter, thermometer, heartRateSensor, activitySensor, roomSensor, program

        /// For people.
        public var title: String {
            switch self {
            case .scale: "Scales"
            case .cuff: "Blood pressure monitors"
            case .oximeter: "Pulse oximeters"
            case .glucoseMeter: "Glucose meters and sensors"
            case .thermometer: "Clinical thermometers"
            case .heartRateSensor: "Heart rate straps and bands"
            case .activitySensor: "Running and cycling sensors"
            case .roomSensor: "Room sensors"
            case .program: "Files of apps and programs"
            }
        }
    }

    /// What shows that the profile reads the model rightly.
    public enum Proof: String, Hashable, Sendable, CaseIterable {
        /// Frames or files that independent programs, or the specification's examples, read in the same way.
        case several
        /// Frames or files of one other program's tests, or of the maker's description.
        case one
        /// Only a description, or another program's source, was read.
        case described

        /// For people.
        public var title: String {
            switch self {
            case .several: "vectors of several sources"
            case .one: "vectors of one source"
            case .described: "read only"
            }
        }
    }

    /// As it stands on the device.
    public var maker: String
    /// Each as it is sold.
    public var models: [String]
    /// What it is.
    public var kind: Kind
    /// How far it is proven.
    public var proof: Proof
    /// What a person has to do or give; nil where nothing.
    public var needs: String?

    init?(_ node: ProfileNode) {
        let members = node.members(["maker", "models", "kind", "proof", "needs"])
        guard let maker = members["maker"]?.text(), let models = members["models"]?.texts(), !models.isEmpty,
            let kind = members["kind"]?.choice(Kind.self), let proof = members["proof"]?.choice(Proof.self)
        else {
            node.problem("maker, models, kind and proof are needed")
            return nil
        }
        (self.maker, self.models, self.kind, self.proof) = (maker, models, kind, proof)
        needs = members["needs"]?.text()
    }
}
