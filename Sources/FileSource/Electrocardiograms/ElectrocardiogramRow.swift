/// The frames of an electrocardiogram's file in the channel ``channel``: a row ``file`` with its path, each line as bytes, and a row
/// ``end``.
enum ElectrocardiogramRow {
    static let channel = "electrocardiogram"
    static let file: StaticString = "file"
    static let end: StaticString = "end"
}
