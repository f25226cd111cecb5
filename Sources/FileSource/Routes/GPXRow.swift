/// The rows of a GPX file, by what stands in column 0, under the channel ``channel``:
///
///     file     path              a file of an archive begins
///     gpx      creator           the root element
///     type     word              what is done on the track whose locations follow
///     trkpt    …                 a location of a track, with the columns below; or several, one behind the other
///     trk      name              behind the locations of a track
///     wpt, rte                   a waypoint, a planned route: nobody went there yet
///     skip     element, count    elements of a track that nothing is stored of
///     end                        behind a file of an archive
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
    /// In beats a minute.
    static let heartRate = 9
    /// In turns a minute.
    static let cadence = 10
    /// In watts.
    static let power = 11
    /// How many columns a location has.
    static let count = 12

    /// The column of an element in a `trkpt`, whatever its namespace: Apple's `extensions` have `speed`, `course`, `hAcc` and `vAcc`, other
    /// programs write them without the element around them, and GPX 1.0 and Garmin's TrackPointExtension have the first two in the same units.
    ///
    /// `hr` and `cad` are those of Garmin's TrackPointExtension (versions 1 and 2), `hr` and `cadence` of Cluetrust's GPXDATA, `power` of Strava,
    /// `PowerInWatts` of Garmin's PowerExtension, `heartrate` of OsmAnd and others.
    /// Sources: https://www8.garmin.com/xmlschemas/TrackPointExtensionv2.xsd, https://www8.garmin.com/xmlschemas/PowerExtensionv1.xsd,
    /// http://www.cluetrust.com/Schemas/gpxdata10.xsd.
    static func column(ofElement name: UnsafeRawBufferPointer) -> Int? {
        if name.isText("time") { return time }
        if name.isText("ele") { return elevation }
        if name.isText("speed") { return speed }
        if name.isText("course") { return course }
        if name.isText("hAcc") { return horizontalAccuracy }
        if name.isText("vAcc") { return verticalAccuracy }
        if name.isText("hr") || name.isText("heartrate") { return heartRate }
        if name.isText("cad") || name.isText("cadence") { return cadence }
        return name.isText("power") || name.isText("PowerInWatts") ? power : nil
    }

    /// The column of an attribute of `Location` in an export of before iOS 12.
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
