import HealthModel

// Objects with packed points, and those of eyes and ears.
extension ObjectFields {
    ///     ,"points":1800,"workout":"019a…","name":"Route 2026-11-20 5:31pm"
    static func set(_ route: WorkoutRoute, in object: inout JSONObject) {
        object.set(["points": route.points.count, "workout": route.workout, "name": ifPresent(route.name)])
    }

    ///     ,"classification":"sinusRhythm","averageHeartRate":{"value":62.0,"unit":"/min"},"samplingFrequency":{…},…,"points":15360
    static func set(_ recording: Electrocardiogram, in object: inout JSONObject) {
        object.set([
            "averageHeartRate": ifPresent(recording.averageHeartRate.map { amount($0, Self.perMinute) }),
            "samplingFrequency": ifPresent(recording.samplingFrequency.map { amount($0, Self.hertz) }), "lead": recording.lead,
            "symptomsStatus": recording.symptomsStatus, "symptoms": recording.symptoms, "points": recording.points.count,
        ])
    }

    ///     ,"sensitivity":[{"frequency":{"value":250.0,"unit":"Hz"},"left":{"value":10.0,"unit":"dB[HL]"},"right":null},…]
    static func set(_ audiogram: Audiogram, in object: inout JSONObject) {
        object.set(
            "sensitivity",
            audiogram.sensitivity.map { point in
                var entry = JSONObject(["frequency": amount(point.frequency, Self.hertz)])
                for (name, ear) in [("left", point.left), ("right", point.right)] {
                    if let ear { entry.set(name, self.ear(ear)) } else { entry.set(name, nil as String?) }
                }
                return entry
            })
    }

    private static func ear(_ ear: Audiogram.Ear) -> JSONObject {
        var object = amount(ear.sensitivity, nil)
        if let masked = ear.masked { object.set("masked", masked) }
        if let bound = ear.clampedBelow { object.set("clampedBelow", amount(bound, nil)) }
        if let bound = ear.clampedAbove { object.set("clampedAbove", amount(bound, nil)) }
        return object
    }

    ///     ,"prescription":"glasses","expiration":"…Z","brand":null,"leftEye":{"sphere":{"value":-1.25,"unit":"[diop]"}},…,"attachments":[]
    static func set(_ prescription: VisionPrescription, of sample: Sample, in object: inout JSONObject) {
        object.set(["expiration": prescription.expiration.map { time($0, sample.start) }, "brand": prescription.brand])
        for (name, eye) in [("leftEye", prescription.leftEye), ("rightEye", prescription.rightEye)] {
            guard let eye else {
                object.set(name, nil as String?)
                continue
            }
            var entry = JSONObject()
            for name in VisionPrescription.names { if let reported = eye[name] { entry.set(name, amount(reported, nil)) } }
            object.set(name, entry)
        }
        object.set("attachments", prescription.attachments)
    }

    private static let hertz = try? Unit(ucum: "Hz")
    private static let perMinute = try? Unit(ucum: "/min")
}
