/// The rows of a GPX file, by what stands in column 0, under the channel ``channel``:
///
///     file     path              a file of an archive begins
///     gpx      creator           the root element
///     trkpt    …                 a location of a track, with the columns below
///     trk      name              behind the locations of a track
///     wpt, rte                   a waypoint, a planned route: nobody went there yet
///     end                        behind a file of an archive
enum GPXRow {
    static let channel = "gpx"
    static let file = "file"
    static let end = "end"

    static let element = 0
    static let latitude = 1
    static let longitude = 2
    static let elevation = 3
    static let horizontalAccuracy = 4
    static let verticalAccuracy = 5
    static let course = 6
    static let speed = 7
    static let time = 8
    /// How many columns a location has.
    static let count = 9

    /// The column of an element in a `trkpt`, whatever its namespace: Apple's `extensions` have `speed`, `course`, `hAcc` and `vAcc`, other
    /// programs write them without the element around them, and GPX 1.0 and Garmin's TrackPointExtension have the first two in the same units.
    static func column(ofElement name: UnsafeRawBufferPointer) -> Int? {
        if name.elementsEqual("time".utf8) { return time }
        if name.elementsEqual("ele".utf8) { return elevation }
        if name.elementsEqual("speed".utf8) { return speed }
        if name.elementsEqual("course".utf8) { return course }
        if name.elementsEqual("hAcc".utf8) { return horizontalAccuracy }
        return name.elementsEqual("vAcc".utf8) ? verticalAccuracy : nil
    }

    /// The column of an attribute of `Location` in an export of before iOS 12.
    static func column(ofAttribute name: UnsafeRawBufferPointer) -> Int? {
        if name.elementsEqual("date".utf8) { return time }
        if name.elementsEqual("latitude".utf8) { return latitude }
        if name.elementsEqual("longitude".utf8) { return longitude }
        if name.elementsEqual("altitude".utf8) { return elevation }
        if name.elementsEqual("horizontalAccuracy".utf8) { return horizontalAccuracy }
        if name.elementsEqual("verticalAccuracy".utf8) { return verticalAccuracy }
        if name.elementsEqual("course".utf8) { return course }
        return name.elementsEqual("speed".utf8) ? speed : nil
    }
}
