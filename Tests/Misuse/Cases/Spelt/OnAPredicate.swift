// error: has been renamed to 'init(format:arguments:)'
import CoreDataSource

func predicate() throws -> FetchPredicate<Contact> {
    print(try FetchPredicate<Contact>(format: "name == %@ OR name == %@", argumentArray: ["Guan Yu", "Zhang Fei"]))
    return try FetchPredicate(format: "name == ''", argumentArray: nil)
}
