/// The frames of an electrocardiogram's file, under the channel ``channel``: a row ``file`` with its path, each line as bytes, a row ``end``.
enum ElectrocardiogramRow {
    static let channel = "electrocardiogram"
    static let file: StaticString = "file"
    static let end: StaticString = "end"
}
