import Pipeline

/// The rows of an activity file of any format. Column 0 contains the kind of the row.
///
/// Times and numbers are texts. In a TCX file they are copied from it. In a FIT file times are seconds since 1970, and numbers have the
/// units below.
///
///     activity   …    an activity begins
///     point      …    measurements at one time (TCX: a Trackpoint, FIT: a record)
///     event      …    the timer stopped or resumed
///     lap        …    a lap of the activity
///     end        …    the activity ends
///     skip       kind, count   an element that is not stored
///     refused    reason        a part of the file that cannot be read
enum ActivityRow {
    static let tcx = "tcx"
    static let fit = "fit"

    static let element = 0
    static let activity: StaticString = "activity"
    static let point: StaticString = "point"
    static let event: StaticString = "event"
    static let lap: StaticString = "lap"
    static let end: StaticString = "end"
    static let skip: StaticString = "skip"
    static let refused: StaticString = "refused"

    enum Activity {
        static let sport = 1
        /// A more specific sport. Only FIT has it.
        static let subSport = 2
        static let start = 3
        static let sourceName = 4
        static let sourceVersion = 5
        static let manufacturer = 6
        static let model = 7
        static let serial = 8
        static let firmware = 9
        /// Seconds east of Greenwich, if the file contains the offset separately from its times.
        static let offset = 10
        static let count = 11
    }

    enum Point {
        static let time = 1
        static let latitude = 2
        static let longitude = 3
        /// In meters.
        static let altitude = 4
        /// In beats per minute.
        static let heartRate = 5
        /// In revolutions per minute.
        static let cadence = 6
        /// In meters per second.
        static let speed = 7
        /// In watts.
        static let power = 8
        static let count = 9
    }

    /// Columns of a lap and of an activity's end.
    enum Figures {
        static let start = 1
        /// In seconds, including pauses. TCX does not have it.
        static let elapsed = 2
        /// In seconds, without pauses.
        static let timer = 3
        /// In meters.
        static let distance = 4
        /// In kilocalories.
        static let energy = 5
        static let averageHeartRate = 6
        static let maximumHeartRate = 7
        static let minimumHeartRate = 8
        /// The end of a lap, if the file contains it.
        static let end = 9
        static let count = 10
    }

    enum Event {
        static let time = 1
        /// `pause` or `resume`.
        static let type = 2
        static let count = 3
    }
}

extension ExportRows {
    /// Appends a whole row of texts. The element's name goes into column 0.
    mutating func append(_ element: StaticString, _ texts: [[UInt8]], at place: Place) {
        begin(UnsafeRawBufferPointer(start: element.utf8Start, count: element.utf8CodeUnitCount), columns: 1 + texts.count)
        for (index, text) in texts.enumerated() where !text.isEmpty { text.withUnsafeBytes { set(1 + index, $0) } }
        end(place)
    }
}
