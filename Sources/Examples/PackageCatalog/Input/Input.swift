internal import Foundation

/// The source of the control file.
struct Input: Equatable {
    /// A path, or `-` for standard input.
    var name: String

    static let dpkgStatus = Input("/var/lib/dpkg/status")

    init(_ name: String) {
        self.name = name
    }

    /// Passes the bytes to the body, in pieces.
    func read(_ body: ([UInt8]) -> Void) throws {
        do {
            let file = name == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: name))
            while let data = try file.read(upToCount: 1 << 18), !data.isEmpty { body(Array(data)) }
        } catch {
            throw CatalogError("\(name) cannot be read. \(error.localizedDescription)")
        }
    }

    /// How many bytes there are to read, if that is known.
    var byteCount: Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: name)
        return (attributes?[.size] as? NSNumber).map(\.intValue)
    }
}
