internal import Foundation

/// Where a user's programs keep their data.
enum UserDirectory {
    /// The store that is used when none is named. Its folder is made if missing.
    static func storeFile() throws -> URL {
        let folder = data.appending(component: "package-catalog", directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw CatalogError("The folder \(folder.path) cannot be made. \(error.localizedDescription)")
        }
        return folder.appending(component: "packages.sqlite")
    }

    private static var data: URL {
        // The convention has relative paths ignored.
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(filePath: path, directoryHint: .isDirectory)
        }
        let home = FileManager.default.homeDirectoryForCurrentUser
        return home.appending(path: ".local/share", directoryHint: .isDirectory)
    }
}
