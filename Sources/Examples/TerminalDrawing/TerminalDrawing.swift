import Foundation

/// Draws a recording of a terminal, read from standard input, as an SVG image on standard output.
///
/// `mail --record` prints a recording: for each picture, its lines with color sequences, and then a form feed with the duration
/// of the picture in milliseconds.
@main
struct TerminalDrawing {
    static func main() {
        let title = CommandLine.arguments.dropFirst().joined(separator: " ")
        let recording = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        var drawing = Drawing(Picture.all(in: recording))
        print(drawing.svg(title: title), terminator: "")
    }
}
