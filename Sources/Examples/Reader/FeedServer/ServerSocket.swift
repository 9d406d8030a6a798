import Foundation
import Synchronization

#if canImport(Glibc)
@preconcurrency import Glibc
#else
import Darwin
#endif

/// Closes a descriptor. In `ServerSocket`, the method `close()` hides the system's function.
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

/// A socket that listens on the loopback.
final class ServerSocket: Sendable {
    let port: UInt16
    private let descriptor: Int32
    /// The ends of a pipe. A byte in the pipe ends the wait for connections.
    private let (wakeReader, wakeWriter): (Int32, Int32)
    private let isOpen = Mutex(true)
    private let accepting = DispatchGroup()

    init(port: UInt16) throws {
        var pipe: [Int32] = [-1, -1]
        guard Self.makePipe(&pipe) else { throw Self.lastError }
        (wakeReader, wakeWriter) = (pipe[0], pipe[1])
        descriptor = socket(AF_INET, Self.streamType, 0)
        guard descriptor >= 0 else { throw Self.lastError }
        // Programs that this process starts must not keep the port.
        for descriptor in pipe + [descriptor] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        guard isBound else {
            let error = Self.lastError
            for descriptor in pipe + [descriptor] { closeDescriptor(descriptor) }
            throw error
        }
        self.port = UInt16(bigEndian: address.sin_port)
        accepting.enter()
    }

    private static func makePipe(_ ends: inout [Int32]) -> Bool { pipe(&ends) == 0 }
    private static var lastError: any Error { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
    private static let streamType = SOCK_STREAM
    #endif

    /// Accepts connections until the socket is closed. Blocks the thread.
    func acceptAll(_ begin: (Int32) -> Void) {
        var descriptors = [descriptor, wakeReader].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            guard poll(&descriptors, 2, -1) >= 0 || errno == EINTR else { break }
            if descriptors[1].revents != 0 { break }
            guard descriptors[0].revents != 0 else { continue }
            let connection = accept(descriptor, nil, nil)
            if connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                begin(connection)
            } else if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                // The process has too many open files, or too little memory. Wait until other threads close files.
                usleep(10_000)
            }
        }
        isOpen.withLock { isOpen in
            isOpen = false
            for descriptor in [descriptor, wakeReader, wakeWriter] { closeDescriptor(descriptor) }
        }
        accepting.leave()
    }

    /// Ends ``acceptAll(_:)`` soon.
    func wake() {
        isOpen.withLock { isOpen in
            var byte: UInt8 = 0
            if isOpen { _ = write(wakeWriter, &byte, 1) }
        }
    }

    /// Ends ``acceptAll(_:)``, and waits for its end. Nobody listens on the port afterwards.
    func close() {
        wake()
        accepting.wait()
    }

    // MARK: Connections

    /// Ends the reads and writes of a connection that another thread serves.
    static func interrupt(_ connection: Int32) { _ = shutdown(connection, Int32(SHUT_RDWR)) }

    /// Closes a connection.
    ///
    /// - Parameter isReset: Whether the client gets an error instead of the end of the bytes.
    static func end(_ connection: Int32, isReset: Bool = false) {
        if isReset {
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        }
        closeDescriptor(connection)
    }
}

/// The bytes of a connection. Each call blocks the thread.
struct ServerConnection {
    private let descriptor: Int32
    /// The time by which the client must have sent its request.
    private let end: Date
    /// Bytes that were read, but are not used yet.
    private let buffer = BytesBox()

    /// Bytes that only one thread uses.
    private final class BytesBox {
        var bytes: [UInt8] = []
    }

    /// - Parameter patience: The seconds after which a wait for the client ends.
    init(_ descriptor: Int32, patience: Int) {
        self.descriptor = descriptor
        end = Date(timeIntervalSinceNow: Double(patience))
        var time = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        #if !canImport(Glibc)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Reads the lines before the body, without the empty line; nil if the client has gone.
    func readHead(atMost limit: Int) throws(HTTPReply) -> [UInt8]? {
        let mark = Array("\r\n\r\n".utf8)
        var searched = 0
        while true {
            let bytes = buffer.bytes
            for start in max(0, searched - 3)..<max(0, bytes.count - 3)
            where bytes[start..<start + 4].elementsEqual(mark) {
                buffer.bytes = Array(bytes[(start + 4)...])
                return Array(bytes[..<start])
            }
            searched = bytes.count
            if bytes.count > limit { throw HTTPReply(431, "The lines before the body have more than \(limit) bytes.") }
            guard try readMore() else { return nil }
        }
    }

    /// Reads the body; nil if the client has gone.
    func read(_ count: Int) throws(HTTPReply) -> [UInt8]? {
        while buffer.bytes.count < count { guard try readMore() else { return nil } }
        return Array(buffer.bytes.prefix(count))
    }

    /// - Returns: False at the end of the bytes.
    private func readMore() throws(HTTPReply) -> Bool {
        if Date() > end { throw HTTPReply(408, "The request took too long.") }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EINTR { return true }
        if count < 0, errno == EAGAIN { throw HTTPReply(408, "The request took too long.") }
        if count > 0 { buffer.bytes += bytes[..<count] }
        return count > 0
    }

    /// Sends the bytes, unless the client has gone.
    func send(_ bytes: [UInt8]) {
        #if canImport(Glibc)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        let flags: Int32 = 0
        #endif
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemSend($0, flags) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    private func systemSend(_ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
        #if canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
        #else
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, flags)
        #endif
    }

    /// Ends the reply, and reads the rest of the request. If a connection is closed with unread bytes, the system resets the
    /// connection, and the client might not get the reply.
    func finish() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        var bytes = [UInt8](repeating: 0, count: 4096)
        var total = 0
        while total < 1 << 20, Date() < end {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count <= 0 { break }
            total += count
        }
    }
}
