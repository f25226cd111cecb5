/// A maker and its models that a profile reads, and how well that is proven.
package struct ProfileDevice: Hashable, Sendable {
    /// The kinds of devices, in the table's order.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case scale, cuff, oximeter, glucoseMeter, thermometer, heartRateSensor, activitySensor, roomSensor, program

        /// The heading for display.
        package var title: String {
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

    /// The evidence that the profile reads the model correctly.
    package enum Proof: String, Hashable, Sendable, CaseIterable {
        /// Frames or files that independent programs, or the specification's examples, read in the same way.
        case several
        /// Frames or files from the tests of one other program, or from the maker's description.
        case one
        /// Only a description or another program's source, without test data.
        case described

        package var title: String {
            switch self {
            case .several: "vectors of several sources"
            case .one: "vectors of one source"
            case .described: "read only"
            }
        }
    }

    package var maker: String
    /// The names under which the models are sold.
    package var models: [String]
    package var kind: Kind
    package var proof: Proof
    /// Steps or data that the user must provide, or nil.
    package var needs: String?

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
