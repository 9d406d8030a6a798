import Foundation

/// Draws a recording of a terminal, read from standard input, as an SVG image on standard output.
///
/// A recording is what `mail --record` prints: the lines of each picture, with colour sequences, and then a form feed with the
/// milliseconds for which the picture is shown.
@main
struct TerminalDrawing {
    static func main() {
        let title = CommandLine.arguments.dropFirst().joined(separator: " ")
        let recording = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        var drawing = Drawing(Picture.all(in: recording))
        print(drawing.svg(title: title), terminator: "")
    }
}
