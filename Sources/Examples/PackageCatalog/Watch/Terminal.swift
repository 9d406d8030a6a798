internal import Foundation

/// Standard output, if it is a terminal.
enum Terminal {
    static let isThere = isatty(FileHandle.standardOutput.fileDescriptor) != 0

    /// In lines and columns; 24 by 80 if they are not known.
    static var height: Int { size.map { Int($0.ws_row) } ?? 24 }
    static var width: Int { size.map { Int($0.ws_col) } ?? 80 }

    private static var size: winsize? {
        var size = winsize()
        let isKnown = ioctl(FileHandle.standardOutput.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0
        return isKnown && size.ws_row > 0 ? size : nil
    }
}
