internal import Foundation
internal import ModelSource

/// The maximum length of a message in bytes. No real source file comes near this length.
let longestMessage = 256 << 20

func read(_ count: Int) -> Data? {
    var data = Data()
    while data.count < count {
        guard let part = try? FileHandle.standardInput.read(upToCount: count - data.count), !part.isEmpty else {
            return nil
        }
        data.append(part)
    }
    return data
}

// The compiler ends this program by closing its input. If the compiler was killed, a write fails, and this program
// ends, too.
signal(SIGPIPE, SIG_IGN)
while let head = read(8) {
    let length = head.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    guard length <= longestMessage, let message = read(Int(length)), let answer = CompilerMessages.answer(to: message)
    else { break }
    let size = withUnsafeBytes(of: UInt64(answer.count).littleEndian) { Data($0) }
    guard (try? FileHandle.standardOutput.write(contentsOf: size + answer)) != nil else { break }
}
