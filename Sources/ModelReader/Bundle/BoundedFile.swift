internal import ManagedModel
internal import Foundation

/// Reads files from outside: only regular files, and only up to a limit.
enum BoundedFile {
    /// The bytes of the file, or nil if there is none.
    static func read(_ url: URL, limit: Int) throws(ModelReaderError) -> Data? {
        let path = url.resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            // A pipe would block forever, and a device may never end.
            let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            guard type == .typeRegular else {
                throw ModelReaderError(.notAModel, file: url.path, "This is not a regular file.")
            }
            let handle = try FileHandle(forReadingFrom: URL(filePath: path))
            let data = try handle.read(upToCount: limit + 1) ?? Data()
            try handle.close()
            guard data.count <= limit else {
                throw ModelReaderError(.tooLarge, file: url.path, "The file is larger than \(limit) bytes.")
            }
            return data
        } catch let error as ModelReaderError {
            throw error
        } catch {
            throw ModelReaderError(
                .unreadable, file: url.path,
                "The file cannot be read (\(error.localizedDescription)). Check its permissions.")
        }
    }
}
