import HealthModel
import Pipeline

/// An open file, with the time of its import.
package struct ImportedFile {
    let file: InputFile
    let received: Instant
    let meter: ReadMeter?

    /// - Parameter meter: counts the bytes that are read.
    package init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        (self.file, self.received, self.meter) = (file, received, meter)
    }

    /// The bytes from the start of the file, which the meter counts.
    var input: FileInput { FileInput(file, meter: meter) }

    func frame(_ payload: RawFrame.Payload, at place: Place, _ channel: String) -> RawFrame {
        RawFrame(payload: payload, place: place, received: received, channel: channel)
    }
}

package protocol ImportedFileSource: FrameSource {
    init(_ imported: ImportedFile)
}

extension ImportedFileSource {
    package init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        self.init(ImportedFile(file, received: received, meter: meter))
    }
}
