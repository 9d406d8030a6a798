internal import Foundation

/// Messages for people, apart from the program's output.
enum StandardError {
    static let isTerminal = isatty(FileHandle.standardError.fileDescriptor) != 0

    static func print(_ text: String, terminator: String = "\n") {
        FileHandle.standardError.write(Data((text + terminator).utf8))
    }
}
