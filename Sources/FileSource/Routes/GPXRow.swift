/// The rows of a GPX file in the channel ``channel``, by the text in column 0:
///
///     file     path              a file of an archive begins
///     gpx      creator           the root element
///     type     word              the activity of the track whose locations follow
///     trkpt    …                 one or several locations of a track, with the columns below
///     trk      name              after the locations of a track
///     wpt, rte                   a waypoint or a planned route, which are not stored
///     skip     element, count    elements of a track that are not stored
///     end                        after a file of an archive
enum GPXRow {
    static let channel = "gpx"
    static let file: StaticString = "file"
    static let type: StaticString = "type"
    static let skip: StaticString = "skip"
    static let end: StaticString = "end"

    static let element = 0
    static let latitude = 1
    static let longitude = 2
    static let elevation = 3
    static let horizontalAccuracy = 4
    static let verticalAccuracy = 5
    static let course = 6
    static let speed = 7
    static let time = 8
    /// In beats per minute.
    static let heartRate = 9
    /// In revolutions per minute.
    static let cadence = 10
    /// In watts.
    static let power = 11
    /// The number of columns of a location.
    static let count = 12

    /// Returns the column of an element in a `trkpt`, whatever its namespace. Apple's `extensions` contain `speed`, `course`, `hAcc` and
    /// `vAcc`. Other programs write them without that element. GPX 1.0 and Garmin's TrackPointExtension have the first two in the same
    /// units.
    ///
    /// `hr` and `cad` are those of Garmin's TrackPointExtension (versions 1 and 2), `hr` and `cadence` of Cluetrust's GPXDATA, `power` of
    /// Strava, `PowerInWatts` of Garmin's PowerExtension, `heartrate` of OsmAnd and others, and `bpm` of programs
    /// that write it directly into the point. Sources:
    /// https://www8.garmin.com/xmlschemas/TrackPointExtensionv2.xsd, https://www8.garmin.com/xmlschemas/PowerExtensionv1.xsd,
    /// http://www.cluetrust.com/Schemas/gpxdata10.xsd.
    static func column(ofElement name: UnsafeRawBufferPointer) -> Int? {
        if name.isText("time") { return time }
        if name.isText("ele") { return elevation }
        if name.isText("speed") { return speed }
        if name.isText("course") { return course }
        if name.isText("hAcc") { return horizontalAccuracy }
        if name.isText("vAcc") { return verticalAccuracy }
        if name.isText("hr") || name.isText("heartrate") || name.isText("bpm") { return heartRate }
        if name.isText("cad") || name.isText("cadence") { return cadence }
        return name.isText("power") || name.isText("PowerInWatts") ? power : nil
    }

    /// Returns the column of an attribute of `Location` in exports before iOS 12.
    static func column(ofAttribute name: UnsafeRawBufferPointer) -> Int? {
        if name.isText("date") { return time }
        if name.isText("latitude") { return latitude }
        if name.isText("longitude") { return longitude }
        if name.isText("altitude") { return elevation }
        if name.isText("horizontalAccuracy") { return horizontalAccuracy }
        if name.isText("verticalAccuracy") { return verticalAccuracy }
        if name.isText("course") { return course }
        return name.isText("speed") ? speed : nil
    }
}
