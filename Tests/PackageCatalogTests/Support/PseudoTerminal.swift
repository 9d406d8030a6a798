#if os(Linux)
import Foundation
import TestSupport

/// A terminal of which this process is the other end: what a person would type and see.
struct PseudoTerminal {
    /// This end.
    let master: FileHandle
    /// The end that a program takes for a terminal.
    let program: FileHandle

    init(rows: UInt16, columns: UInt16) throws {
        let master = try PseudoTerminal.open("/dev/ptmx")
        var isLocked: Int32 = 0
        var number: Int32 = 0
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        // TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
        guard ioctl(master.fileDescriptor, 0x4004_5431, &isLocked) == 0,
            ioctl(master.fileDescriptor, 0x8004_5430, &number) == 0,
            ioctl(master.fileDescriptor, UInt(TIOCSWINSZ), &size) == 0
        else { throw PseudoTerminal.failure("/dev/ptmx") }
        self.master = master
        program = try PseudoTerminal.open("/dev/pts/\(number)")
    }

    private static func open(_ path: String) throws -> FileHandle {
        let descriptor = Foundation.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        if descriptor < 0 { throw failure(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func failure(_ path: String) -> NSError {
        NSError(domain: NSPOSIXErrorDomain, code: Int(errno), userInfo: [NSFilePathErrorKey: path])
    }
}

extension CatalogProgram {
    /// Starts the program at a terminal; its output is read screen by screen.
    func converseAtTerminal(_ arguments: [String], rows: UInt16, columns: UInt16) throws -> Conversation {
        let terminal = try PseudoTerminal(rows: rows, columns: columns)
        let process = try start(arguments, standardInput: terminal.program, standardOutput: terminal.program)
        // The program's must be the last.
        try terminal.program.close()
        return Conversation(
            process, input: terminal.master, output: terminal.master, separator: "\u{1B}[J")
    }
}
#endif
